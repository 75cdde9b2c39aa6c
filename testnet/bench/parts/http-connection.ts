// One HTTP/1.1 connection of a load generator: requests as ready bytes, one at a time, and of an answer only what is
// needed to know where it ends. It takes a fraction of the time of Node's own client, which would be the limit of what
// it measures. It knows answers with a content-length only, which is what its rivals send to such requests.

import { connect, type Socket } from 'node:net'
import { loopback } from '../../local/ports.ts'

export interface Answer {
  readonly status: number
  /** Status line and headers, as one text. */
  readonly head: string
}

const headEnd = '\r\n\r\n'
/** `HTTP/1.1 200`: where the status stands. */
const statusFrom = 9
const statusTo = 12

export class HttpConnection {
  readonly #socket: Socket
  #waiting: { resolve: (answer: Answer) => void, reject: (error: Error) => void } | undefined
  #left: Buffer | undefined

  constructor (readonly port: number) {
    this.#socket = connect({ host: loopback, port, noDelay: true })
    this.#socket.on('data', chunk => { this.#read(chunk) })
    this.#socket.once('error', error => { this.#waiting?.reject(error) })
    this.#socket.once('close', () => { this.#waiting?.reject(new Error(`port ${port} closed the connection`)) })
  }

  async send (request: Buffer): Promise<Answer> {
    return await new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  close (): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #read (chunk: Buffer): void {
    const bytes = this.#left === undefined ? chunk : Buffer.concat([this.#left, chunk])
    this.#left = bytes
    const end = bytes.indexOf(headEnd)
    if (end < 0) return
    const head = bytes.toString('latin1', 0, end)
    const length = /content-length: (\d+)/i.exec(head)?.[1]
    if (length === undefined) {
      this.#waiting?.reject(new Error(`an answer without content-length: ${head}`))
      return
    }
    if (bytes.length < end + headEnd.length + Number(length)) return
    this.#left = undefined
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: Number(head.slice(statusFrom, statusTo)), head })
  }
}

export interface Form {
  readonly method: string
  readonly contentType?: string | undefined
  readonly body?: string | undefined
}

/** The bytes of a request. */
export function requestBytes (port: number, path: string, { method, contentType, body = '' }: Form): Buffer {
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${loopback}:${port}\r\n${type}\r\n${body}`)
}
