// The token that guards the HTTP API beyond loopback: one line in a file that only its owner should read.

import { readFileSync } from 'node:fs'
import { ConfigError } from '../errors.ts'

/** Fewer characters can be guessed. OWASP asks for 128 bits of a session token; that is 22 characters of base64. */
const tokenCharactersMin = 22

/** @throws ConfigError when the file cannot be read or holds no usable token */
export function readToken (file: string): string {
  let token: string
  try {
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new ConfigError('rpc-token-file', `rpc-token-file: ${file} cannot be read (${reason}); make one: openssl rand -base64 24 > ${file}`)
  }
  if (!/^[\x21-\x7e]+$/.test(token) || token.length < tokenCharactersMin) {
    throw new ConfigError('rpc-token-file', `rpc-token-file: ${file} must hold one word of at least ${tokenCharactersMin} printable characters; make one: openssl rand -base64 24 > ${file}`)
  }
  return token
}
