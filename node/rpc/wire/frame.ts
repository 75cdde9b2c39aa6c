// Layout of the frames that go between nodes, written by hand: a tenth of the cost of a generated codec (measured), and
// on the path of every call. Numbers are little-endian. A frame follows its length as u32; bulk uses varint lengths.
//
//   hello    0 | count u8 | count x (length u16, address UTF-8)        first on each stream: how to reach its opener
//   request  1 | id u32 | length u8, method ASCII | message
//   reply    2 | id u32 | message
//   failure  3 | id u32 | definite u8 | length u8, name UTF-8 | text UTF-8
//   notice   4 | length u8, method ASCII | message
//   row      5 | message                                               bulk only, as are end and the id 0 of failure
//   end      6
//
// Kinds are only ever added. test/wire/frame.test.ts holds the bytes.

import { addressesMax, frameBytesMax } from '../init.ts'

export const frameKinds = { hello: 0, request: 1, reply: 2, failure: 3, notice: 4, row: 5, end: 6 } as const

export type Frame =
  | { readonly kind: 'hello', readonly addresses: readonly string[] }
  | { readonly kind: 'request', readonly id: number, readonly method: string, readonly message: Uint8Array }
  | { readonly kind: 'reply', readonly id: number, readonly message: Uint8Array }
  | { readonly kind: 'failure', readonly id: number, readonly definite: boolean, readonly name: string, readonly text: string }
  | { readonly kind: 'notice', readonly method: string, readonly message: Uint8Array }
  | { readonly kind: 'row', readonly message: Uint8Array }
  | { readonly kind: 'end' }

/** Bytes of the length before each frame. */
export const lengthBytes = 4
const idBytes = 4
const nameBytesMax = 255
const addressBytesMax = 65_535

/** A frame with its length before it: `bytes` starts 4 bytes before the kind. */
function allocate (kind: number, bodyBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(lengthBytes + 1 + bodyBytes)
  bytes.writeUInt32LE(1 + bodyBytes, 0)
  bytes[lengthBytes] = kind
  return bytes
}

export function encodeRequest (id: number, method: string, message: Uint8Array): Buffer {
  assertName(method)
  const bytes = allocate(frameKinds.request, idBytes + 1 + method.length + message.length)
  bytes.writeUInt32LE(id, 5)
  bytes[9] = method.length
  bytes.write(method, 10, 'latin1')
  bytes.set(message, 10 + method.length)
  return bytes
}

export function encodeReply (id: number, message: Uint8Array): Buffer {
  const bytes = allocate(frameKinds.reply, idBytes + message.length)
  bytes.writeUInt32LE(id, 5)
  bytes.set(message, 9)
  return bytes
}

export function encodeFailure (id: number, definite: boolean, name: string, text: string): Buffer {
  const nameBytes = Buffer.from(name).subarray(0, nameBytesMax)
  const textBytes = Buffer.from(text)
  const bytes = allocate(frameKinds.failure, idBytes + 2 + nameBytes.length + textBytes.length)
  bytes.writeUInt32LE(id, 5)
  bytes[9] = definite ? 1 : 0
  bytes[10] = nameBytes.length
  bytes.set(nameBytes, 11)
  bytes.set(textBytes, 11 + nameBytes.length)
  return bytes
}

export function encodeNotice (method: string, message: Uint8Array): Buffer {
  assertName(method)
  const bytes = allocate(frameKinds.notice, 1 + method.length + message.length)
  bytes[5] = method.length
  bytes.write(method, 6, 'latin1')
  bytes.set(message, 6 + method.length)
  return bytes
}

export function encodeHello (addresses: readonly string[]): Buffer {
  const parts = addresses.slice(0, addressesMax).map(address => Buffer.from(address)).filter(part => part.length <= addressBytesMax)
  const bytes = allocate(frameKinds.hello, 1 + parts.reduce((sum, part) => sum + 2 + part.length, 0))
  bytes[5] = parts.length
  let at = 6
  for (const part of parts) {
    bytes.writeUInt16LE(part.length, at)
    bytes.set(part, at + 2)
    at += 2 + part.length
  }
  return bytes
}

export function encodeRow (message: Uint8Array): Buffer {
  const bytes = allocate(frameKinds.row, message.length)
  bytes.set(message, 5)
  return bytes
}

export function encodeEnd (): Buffer { return allocate(frameKinds.end, 0) }

/** Of a frame without its length. @throws RangeError for bytes that are no frame. */
export function decodeFrame (bytes: Buffer): Frame {
  switch (bytes[0]) {
    case frameKinds.request: {
      const end = nameEnd(bytes, 5)
      return { kind: 'request', id: bytes.readUInt32LE(1), method: bytes.toString('latin1', 6, end), message: bytes.subarray(end) }
    }
    case frameKinds.reply: return { kind: 'reply', id: bytes.readUInt32LE(1), message: bytes.subarray(5) }
    case frameKinds.notice: {
      const end = nameEnd(bytes, 1)
      return { kind: 'notice', method: bytes.toString('latin1', 2, end), message: bytes.subarray(end) }
    }
    case frameKinds.failure: {
      const end = nameEnd(bytes, 6)
      return { kind: 'failure', id: bytes.readUInt32LE(1), definite: bytes[5] === 1, name: bytes.toString('utf8', 7, end), text: bytes.toString('utf8', end) }
    }
    case frameKinds.hello: return { kind: 'hello', addresses: decodeAddresses(bytes) }
    case frameKinds.row: return { kind: 'row', message: bytes.subarray(1) }
    case frameKinds.end: return { kind: 'end' }
    default: throw new RangeError(`a frame of ${bytes.length} bytes is of unknown kind ${bytes[0]}`)
  }
}

function nameEnd (bytes: Buffer, at: number): number {
  const end = at + 1 + bytes.readUInt8(at)
  if (end > bytes.length) throw new RangeError(`a frame of ${bytes.length} bytes ends within a name that ends at ${end}`)
  return end
}

function decodeAddresses (bytes: Buffer): string[] {
  const count = bytes.readUInt8(1)
  if (count > addressesMax) throw new RangeError(`a hello names at most ${addressesMax} addresses, not ${count}`)
  const addresses: string[] = []
  let at = 2
  for (let i = 0; i < count; i++) {
    const end = at + 2 + bytes.readUInt16LE(at)
    if (end > bytes.length) throw new RangeError('a hello ends within an address')
    addresses.push(bytes.toString('utf8', at + 2, end))
    at = end
  }
  return addresses
}

function assertName (method: string): void {
  if (method.length === 0 || method.length > nameBytesMax) throw new RangeError(`the name of a method has 1 to ${nameBytesMax} characters, not ${method.length}`)
}

/** @throws RangeError where the length of a frame is beyond the bound. */
export function assertFrameLength (length: number): void {
  if (length === 0 || length > frameBytesMax) throw new RangeError(`a frame has 1 to ${frameBytesMax} bytes, not ${length}`)
}
