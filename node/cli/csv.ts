// Rows of a CSV text (RFC 4180): quoted cells, doubled quotes, line breaks within quotes, CRLF or LF. The first row names
// the columns. It guesses no types: cells are text.

export interface CsvRow {
  /** From 1, the header and empty ones too. */
  readonly number: number
  /** By column. */
  readonly cells: Readonly<Record<string, string>>
}

/**
 * @param chunks - text, cut anywhere
 * @throws SyntaxError for a row with more or fewer cells than columns, and for a quote that is not closed
 */
export async function * csvRows (chunks: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let columns: string[] | undefined
  let count = 0
  for await (const cells of csvCells(chunks)) {
    count++
    if (cells.length === 1 && cells[0] === '') continue
    if (columns === undefined) {
      columns = cells.map(cell => cell.trim())
      continue
    }
    if (cells.length !== columns.length) throw new SyntaxError(`row ${count} has ${cells.length} cells, the header ${columns.length}`)
    yield { number: count, cells: Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ''])) }
  }
}

async function * csvCells (chunks: AsyncIterable<string>): AsyncGenerator<string[]> {
  let row: string[] = []
  let cell = ''
  let quoted = false
  /** A quote within quotes: the end of them, unless another follows. */
  let pending = false
  let count = 0
  for await (const chunk of chunks) {
    for (const character of chunk) {
      if (quoted && !pending) {
        if (character === '"') pending = true
        else cell += character
      } else if (pending && character === '"') {
        cell += '"'
        pending = false
      } else {
        if (pending) {
          if (!',\r\n'.includes(character)) throw new SyntaxError(`row ${count + 1} has ${JSON.stringify(character)} behind a closing quote; a quote within a cell is written twice`)
          quoted = pending = false
        }
        if (character === '"' && cell === '') quoted = true
        else if (character === ',') {
          row.push(cell)
          cell = ''
        } else if (character === '\n') {
          count++
          yield [...row, cell.replace(/\r$/, '')]
          row = []
          cell = ''
        } else cell += character
      }
    }
  }
  if (quoted && !pending) throw new SyntaxError(`row ${count + 1} has a quote that is not closed; is the file cut off?`)
  if (cell !== '' || row.length > 0) yield [...row, cell.replace(/\r$/, '')]
}
