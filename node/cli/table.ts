// Plain tables: columns as wide as their widest cell, numbers to the right, long cells cut so that a row stays a line.

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
}

/** Characters of one cell. A guess: three such columns fit a wide terminal. */
const cellCharactersMax = 60

export function table (columns: readonly Column[], rows: ReadonlyArray<readonly string[]>): string {
  const shown = rows.map(row => row.map(cut))
  const widths = columns.map((column, at) => Math.max(column.title.length, ...shown.map(row => widthOf(row[at] ?? ''))))
  const line = (cells: readonly string[]): string => cells.map((cell, at) => {
    const space = ' '.repeat((widths[at] ?? 0) - widthOf(cell))
    return columns[at]?.align === 'right' ? space + cell : cell + space
  }).join('  ').trimEnd() + '\n'
  return [columns.map(column => column.title), ...shown].map(line).join('')
}

function cut (cell: string): string {
  const plain = cell.replace(/[\p{Cc}\p{Cf}]/gu, '·')
  const characters = [...plain]
  return characters.length > cellCharactersMax ? characters.slice(0, cellCharactersMax - 1).join('') + '…' : plain
}

/** Code points; wide scripts take two columns each, and may push the next column a little. */
function widthOf (cell: string): number {
  return [...cell].length
}

/** 1707 is 1,707. */
export function thousands (value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** 12D3KooWabc…xyz, since the first characters of all peer ids are the same. */
export function shortId (peerId: string): string {
  return peerId.length > 14 ? `${peerId.slice(0, 4)}..${peerId.slice(-6)}` : peerId
}
