// Lines of a stream of bytes, without their line breaks; blank ones are left out. A line beyond the bound is given as
// 'too long' and skipped to its end, so that what follows is still read.

const lineFeed = 0x0a

export interface Line {
  /** Counted from 1, blank ones too. */
  readonly number: number
  readonly content: Buffer | 'too long'
}

export async function * linesOf (source: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let bytes = 0
  let number = 1
  const take = (): Line | undefined => {
    const content = bytes > lineBytesMax ? 'too long' as const : Buffer.concat(parts, bytes)
    const line = { number: number++, content }
    parts = []
    bytes = 0
    return content === 'too long' || !isBlank(content) ? line : undefined
  }
  for await (const chunk of source) {
    let from = 0
    for (;;) {
      const at = chunk.indexOf(lineFeed, from)
      const piece = chunk.subarray(from, at < 0 ? chunk.length : at)
      bytes += piece.length
      if (bytes <= lineBytesMax) parts.push(piece)
      else parts = []
      if (at < 0) break
      const line = take()
      if (line !== undefined) yield line
      from = at + 1
    }
  }
  const last = take()
  if (last !== undefined) yield last
}

/** Spaces, tabs and carriage returns only. */
function isBlank (content: Buffer): boolean {
  return content.every(byte => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
