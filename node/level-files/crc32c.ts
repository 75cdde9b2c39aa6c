// CRC-32C (Castagnoli; RFC 3720 appendix B.4), the checksum of LevelDB's files, four bytes a step ("slicing": Kounavis and
// Berry, "A Systematic Approach to Building High Performance Software-based CRC Generators", 2005), and LevelDB's mask over it.

/** The polynomial 0x1edc6f41 with its bits reversed. */
const polynomial = 0x82f63b78
/** Tables, each of 256 values, for bytes that 3, 2, 1 and 0 others follow. */
const slices = 4

const table = new Uint32Array(slices * 256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ polynomial
  table[byte] = crc
}
for (let at = 256; at < table.length; at++) {
  const before = table[at - 256]!
  table[at] = (before >>> 8) ^ table[before & 255]!
}

export function crc32c (bytes: Uint8Array): number {
  let crc = 0xffffffff
  let at = 0
  for (const end = bytes.length - slices + 1; at < end; at += slices) {
    crc ^= bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24
    crc = table[768 + (crc & 255)]! ^ table[512 + (crc >>> 8 & 255)]! ^ table[256 + (crc >>> 16 & 255)]! ^ table[crc >>> 24]!
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ table[(crc ^ bytes[at]!) & 255]!
  return ~crc >>> 0
}

/** As LevelDB stores it, so that a checksum over bytes that hold checksums stays a good one. */
export function maskedCrc32c (bytes: Uint8Array): number {
  const crc = crc32c(bytes)
  return ((crc >>> 15 | crc << 17) + 0xa282ead8) >>> 0
}
