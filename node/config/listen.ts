// Addresses as operators write them: host:port, [ipv6]:port, :port, or a multiaddr. Only their form is looked at here;
// nothing is resolved or opened.

import { isIPv4, isIPv6 } from 'node:net'
import { ConfigError } from '../errors.ts'

const portMax = 65_535

export interface HostPort {
  readonly host: string
  readonly port: number
}

/**
 * `127.0.0.1:7700`, `[::1]:0`, `localhost:7700`, or `:7700`, which is loopback.
 *
 * @throws ConfigError that names setting
 */
export function parseHostPort (text: string, setting: string): HostPort {
  const parts = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[^:[\]/\s]*)):(?<port>\d{1,5})$/.exec(text)?.groups
  const port = Number(parts?.['port'])
  const ipv6 = parts?.['ipv6']
  if (parts === undefined || port > portMax || (ipv6 !== undefined && !isIPv6(ipv6))) {
    throw new ConfigError(setting, `${setting}: ${JSON.stringify(text)} is no address; expected host:port with a port up to ${portMax}, such as 127.0.0.1:7700 or [::1]:7700`)
  }
  const host = ipv6 ?? parts['host'] ?? ''
  return { host: host === '' ? '127.0.0.1' : host, port }
}

/**
 * A multiaddr for TCP, from itself or from host:port.
 *
 * @throws ConfigError that names setting
 */
export function toMultiaddr (text: string, setting: string): string {
  if (text.startsWith('/')) {
    if (/^\/(ip4|ip6|dns|dns4|dns6|dnsaddr)\/[^/\s]+(\/tcp\/\d{1,5})?(\/[^\s]+)?$/.test(text)) return text
    throw new ConfigError(setting, `${setting}: ${JSON.stringify(text)} is no multiaddr that can be used; expected the form /ip4/127.0.0.1/tcp/7701`)
  }
  const { host, port } = parseHostPort(text, setting)
  const protocol = isIPv4(host) ? 'ip4' : isIPv6(host) ? 'ip6' : 'dns'
  return `/${protocol}/${host}/tcp/${port}`
}

/** host:port as it stands in a URL. */
export function formatHostPort ({ host, port }: HostPort): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`
}

/** Can only this machine reach it? */
export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
