// TCP ports of 127.0.0.1: are they free, and which are. A port may be taken between the look and the use; then the
// daemon says so itself.

import { createServer, type Server } from 'node:net'
import { Failure, exitCodes } from '../../node/cli/failure.ts'

export const loopback = '127.0.0.1'
/** Ports below need rights; those above it, of 16 bits, do not. */
const portMin = 1_024
const portMax = 65_535

/** @throws Failure that names the first port that is taken, with the remedy */
export async function mustBeFree (ports: readonly number[], flag: string): Promise<void> {
  for (const port of ports) {
    if (port < portMin || port > portMax) throw new Failure(exitCodes.usage, `port ${port} is not from ${portMin} to ${portMax}; choose another ${flag}`)
  }
  const servers = await Promise.all(ports.map(async port => ({ port, server: await listen(port) })))
  await Promise.all(servers.map(async ({ server }) => { await close(server) }))
  const taken = servers.filter(({ server }) => server === undefined).map(({ port }) => port)
  if (taken.length > 0) throw new Failure(exitCodes.failed, `port ${taken.join(', ')} of ${loopback} is in use; choose another ${flag}, or stop the program that has it`)
}

/** So many different free ports. */
export async function freePorts (count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, async () => await listen(0)))
  const ports = servers.map(server => (server?.address() as { port: number } | null | undefined)?.port)
  await Promise.all(servers.map(close))
  if (!ports.every(port => port !== undefined)) throw new Failure(exitCodes.failed, `no ${count} ports of ${loopback} are free`)
  return ports
}

async function listen (port: number): Promise<Server | undefined> {
  const server = createServer()
  return await new Promise(resolve => {
    server.once('error', () => { resolve(undefined) })
    server.listen(port, loopback, () => { resolve(server) })
  })
}

async function close (server: Server | undefined): Promise<void> {
  if (server === undefined) return
  await new Promise<void>(resolve => { server.close(() => { resolve() }) })
}
