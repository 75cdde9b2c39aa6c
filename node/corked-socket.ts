// One system call for what a turn of the event loop sends. libp2p's TCP transport writes each part of a message by
// itself (length, head, ciphertext), and system calls are most of what a small message costs: a call between peers took
// a quarter less processor time with its parts together (`npm run bench -- serve`, remoteGet). The socket is no public
// part of a libp2p connection, so where a later version hides it, this does nothing.

import type { ConnectionEncrypter } from '@libp2p/interface'
import type { Socket } from 'node:net'

/** The same encrypter, whose connections cork their sockets until the end of each turn. */
export function withCorkedSockets<Components> (create: (components: Components) => ConnectionEncrypter): (components: Components) => ConnectionEncrypter {
  return components => {
    const encrypter = create(components)
    const secureOutbound = encrypter.secureOutbound.bind(encrypter)
    const secureInbound = encrypter.secureInbound.bind(encrypter)
    encrypter.secureOutbound = async (connection, options) => {
      corkByTurn(connection)
      return await secureOutbound(connection, options)
    }
    encrypter.secureInbound = async (connection, options) => {
      corkByTurn(connection)
      return await secureInbound(connection, options)
    }
    return encrypter
  }
}

function corkByTurn (connection: { readonly socket?: Socket }): void {
  const { socket } = connection
  if (socket === undefined || typeof socket.cork !== 'function') return
  const write = socket.write.bind(socket)
  let corked = false
  const uncork = (): void => {
    corked = false
    socket.uncork()
  }
  socket.write = ((...parts: Parameters<Socket['write']>): boolean => {
    if (!corked) {
      corked = true
      socket.cork()
      process.nextTick(uncork)
    }
    return write(...parts)
  }) as Socket['write']
}
