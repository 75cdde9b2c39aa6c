// A libp2p stream as a bounded source and a bounded sink, for it-pipe. libp2p's own iterator and its onDrain() buffer
// without bound once the far end is slower (measured: 50 to 250 MiB); here a writer waits until little is queued, and a
// reader stops the far end's sending while it is behind.

import type { Stream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'
import { ConnectionLostError, TimeoutError } from '../../overlay/errors.ts'
import { Batcher } from './batcher.ts'
import { bulkReadBytesMax, bulkWriteBytesMax, stallMsMax } from './init.ts'

type Bytes = Uint8Array | Uint8ArrayList

/** Resolves when little is queued. A 'drain' may come while much still is, so the queue itself is looked at. */
function waitWritable (stream: Stream): Promise<void> | undefined {
  const isWritable = (): boolean => !stream.writableNeedsDrain && stream.writeBufferLength <= bulkWriteBytesMax
  if (isWritable()) return undefined
  return new Promise<void>((resolve, reject) => {
    const check = (): void => {
      if (stream.status !== 'open') done(new ConnectionLostError(`the stream is ${stream.status}`))
      else if (isWritable()) done()
    }
    const onClose = (event: StreamCloseEvent): void => { done(event.error ?? new ConnectionLostError('the stream closed')) }
    const stalled = setTimeout(() => { done(new TimeoutError(`the far end took nothing for ${stallMsMax} ms`)) }, stallMsMax)
    const done = (error?: Error): void => {
      clearTimeout(stalled)
      stream.removeEventListener('drain', check)
      stream.removeEventListener('idle', check)
      stream.removeEventListener('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    stream.addEventListener('drain', check)
    stream.addEventListener('idle', check)
    stream.addEventListener('close', onClose)
    check()
  })
}

/** A sink that sends what it gets, some together, and waits while the far end is slow; then closes this end's writing. */
export function sinkTo (stream: Stream): (source: AsyncIterable<Uint8Array>) => Promise<void> {
  return async source => {
    let failure: Error | undefined
    const batcher = new Batcher(bulkWriteBytesMax, bytes => {
      try {
        stream.send(bytes)
      } catch (error) {
        failure = error as Error
      }
    })
    for await (const chunk of source) {
      batcher.write(chunk)
      await waitWritable(stream)
      if (failure !== undefined) throw failure
    }
    batcher.flush()
    await waitWritable(stream)
    if (failure !== undefined) throw failure
    await stream.close({ signal: AbortSignal.timeout(stallMsMax) })
  }
}

/** What the far end sends, until it closes its end. @throws what the stream closed with */
export async function * sourceFrom (stream: Stream): AsyncGenerator<Bytes, void, undefined> {
  const chunks: Bytes[] = []
  let bytes = 0
  let ended = stream.remoteWriteStatus === 'closed'
  let failure: Error | undefined
  let wake: (() => void) | undefined
  let isResuming = false
  const kick = (): void => { wake?.(); wake = undefined }
  const pauseWhenFull = (): void => {
    // libp2p's resume() gives what it holds before it tells Yamux to go on: a pause from within would be undone by that,
    // and the far end would send until the read buffer bursts
    if (bytes > bulkReadBytesMax && stream.readStatus === 'readable' && !isResuming) stream.pause()
  }
  const onMessage = (event: StreamMessageEvent): void => {
    chunks.push(event.data)
    bytes += event.data.byteLength
    pauseWhenFull()
    kick()
  }
  const onEnd = (): void => { ended = true; kick() }
  const onClose = (event: StreamCloseEvent): void => { failure = event.error; ended = true; kick() }
  stream.addEventListener('message', onMessage)
  stream.addEventListener('remoteCloseWrite', onEnd)
  stream.addEventListener('close', onClose)
  try {
    for (;;) {
      for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
        bytes -= chunk.byteLength
        if (bytes < bulkReadBytesMax / 2 && stream.readStatus === 'paused') {
          isResuming = true
          stream.resume()
          isResuming = false
          pauseWhenFull()
        }
        yield chunk
      }
      if (failure !== undefined) throw failure
      if (ended && stream.readBufferLength === 0) return
      await new Promise<void>(resolve => { wake = resolve })
    }
  } finally {
    stream.removeEventListener('message', onMessage)
    stream.removeEventListener('remoteCloseWrite', onEnd)
    stream.removeEventListener('close', onClose)
  }
}
