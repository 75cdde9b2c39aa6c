// Who this peer is: an Ed25519 private key in a file of its own, in libp2p's protobuf form, readable by its owner alone.
// A missing file is a new peer and is said so; a torn one beside data is refused, because a new identity would make the
// old peer vanish without a word. (What names a store in claims is its member id; see overlay/member.ts.)

import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import type { PrivateKey } from '@libp2p/interface'
import { chmod, readFile, stat } from 'node:fs/promises'
import type { Logger } from '../overlay/host.ts'
import { writeAtomically } from './atomic-file.ts'
import { cannotWrite } from './data-dir.ts'
import { IdentityError } from './errors.ts'

const ownerOnly = 0o600

export interface Identity {
  readonly privateKey: PrivateKey
  readonly peerId: string
  readonly created: boolean
}

export interface IdentityInit {
  readonly file: string
  /** Is there a store that belongs to an identity? Then a broken file is never replaced. */
  readonly dataPresent: boolean
  readonly log: Logger
}

/** @throws IdentityError when the file is there but cannot be used, with the remedy */
export async function loadIdentity ({ file, dataPresent, log }: IdentityInit): Promise<Identity> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new IdentityError(`${file} cannot be read (${error.code ?? error.message}); check its owner and permissions`)
  })
  if (bytes === undefined) return await createIdentity(file, log, dataPresent ? 'there was none beside the data' : 'there was none')
  const known = identityIn(bytes)
  if (known === undefined) {
    const state = bytes.length === 0 ? 'is empty' : 'holds no private key that can be read'
    if (dataPresent) {
      throw new IdentityError(`${file} ${state}; put it back from a backup, or delete it to go on with the same data as a new peer`)
    }
    return await createIdentity(file, log, `the old one ${state}`)
  }
  await tighten(file, log)
  return { ...known, created: false }
}

async function createIdentity (file: string, log: Logger, reason: string): Promise<Identity> {
  const privateKey = await generateKeyPair('Ed25519')
  await writeAtomically(file, privateKeyToProtobuf(privateKey), ownerOnly).catch((error: unknown) => { throw new IdentityError(cannotWrite(file, error)) })
  const peerId = peerIdFromPrivateKey(privateKey).toString()
  log.info({ area: 'identity', peerId, file, reason }, 'new identity')
  return { privateKey, peerId, created: true }
}

/** Who an identity file names; undefined where it holds no key that can be read. */
export function identityIn (bytes: Uint8Array): Omit<Identity, 'created'> | undefined {
  if (bytes.length === 0) return undefined
  try {
    const privateKey = privateKeyFromProtobuf(bytes)
    return privateKey.type === 'Ed25519' ? { privateKey, peerId: peerIdFromPrivateKey(privateKey).toString() } : undefined
  } catch {
    return undefined
  }
}

async function tighten (file: string, log: Logger): Promise<void> {
  const { mode } = await stat(file)
  if ((mode & 0o077) === 0) return
  log.warn({ area: 'identity', file, mode: (mode & 0o777).toString(8) }, 'the identity could be read by others; now by its owner alone')
  await chmod(file, ownerOnly)
}
