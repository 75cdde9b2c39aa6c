// Send a stream of rows as one answer. Text is gathered into chunks, so a row costs no write of its own; the socket's
// backpressure reaches the stream, since the next chunk is made when the last was taken. Nothing is sent before the
// first chunk is full or the rows are over: so a short answer has a length, and a request that fails at once gets its
// status. An answer that breaks later is cut off in the middle of its chunks, which every client notices.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { RowStream } from '../../storage/storage-api.ts'
import type { Job } from './gate.ts'
import type { RowForm } from './row-forms.ts'

/** Characters gathered before a write: about the 64 KiB that sockets like. */
const chunkCharacters = 64 * 1024

/** Takes over job: ends it when the answer is complete or broken. */
export async function sendRows (reply: FastifyReply, form: RowForm, stream: RowStream, job: Job): Promise<FastifyReply> {
  // Told by the rows as well; unheard it would count as unhandled.
  stream.end.catch(() => {})
  const chunks = chunksOf(form, stream, job)
  const first = await chunks.next()
  reply.header('content-type', form.contentType)
  if (first.done === true) return reply.send(first.value)
  // A client that leaves must free the rows even if nothing of the stream below was read yet.
  const stop = (): void => { chunks.return(first.value as Buffer).catch(() => {}) }
  if (job.signal?.aborted === true) stop()
  else reply.raw.once('close', stop)
  return reply.send(Readable.from(following(first.value, chunks), { objectMode: false, highWaterMark: 1 }))
}

/** Yields all chunks but the last, and returns that. */
async function * chunksOf (form: RowForm, stream: RowStream, job: Job): AsyncGenerator<Buffer, Buffer> {
  try {
    let text = form.open
    let rows = 0
    for await (const record of stream.rows) {
      text += form.row(record, rows++)
      if (text.length >= chunkCharacters) {
        yield Buffer.from(text)
        text = ''
      }
    }
    return Buffer.from(text + form.close(await stream.end, rows))
  } finally {
    job.end()
  }
}

async function * following (first: Buffer, chunks: AsyncGenerator<Buffer, Buffer | undefined>): AsyncGenerator<Buffer> {
  yield first
  for (;;) {
    const { value, done } = await chunks.next()
    if (value !== undefined) yield value
    if (done === true) return
  }
}
