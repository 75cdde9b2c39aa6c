// A key in logs and error texts: printable ASCII as it is, all else as \xNN, cut at a bound.

import type { Key } from './interval.ts'

const bytesShownMax = 48

export function keyText (key: Key | undefined): string {
  if (key === undefined) return 'end'
  let text = ''
  for (const byte of key.subarray(0, bytesShownMax)) {
    text += byte >= 0x21 && byte <= 0x7e && byte !== 0x5c ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return `"${text}${key.length > bytesShownMax ? '…' : ''}"`
}
