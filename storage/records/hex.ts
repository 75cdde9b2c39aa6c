// Hex digits of a few bytes and back. By hand, since each row that is read or written has a member id in its version: the
// general codecs of uint8arrays took a tenth of the time of a range (profiled).

const digits = Uint8Array.from('0123456789abcdef', digit => digit.charCodeAt(0))

/** Lower case, two digits a byte. For tens of bytes, not for values. */
export function hexOf (bytes: Uint8Array): string {
  const codes = new Array<number>(bytes.length * 2)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    codes[at * 2] = digits[byte >> 4]!
    codes[at * 2 + 1] = digits[byte & 15]!
  }
  return String.fromCharCode(...codes)
}

/** Undefined for what is not an even number of hex digits. */
export function bytesOfHex (text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let at = 0; at < bytes.length; at++) {
    const high = digitAt(text, at * 2)
    const low = digitAt(text, at * 2 + 1)
    if (high === undefined || low === undefined) return undefined
    bytes[at] = high * 16 + low
  }
  return bytes
}

function digitAt (text: string, at: number): number | undefined {
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : undefined
}
