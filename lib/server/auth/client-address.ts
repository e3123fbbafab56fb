/** The client's address: the peer of its connection, or what a configured proxy reports. Next passes on whatever X-Forwarded-* says. */
import { randomBytes } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { perProcess } from '@/lib/shared/kept';

/** Parses `10.0.0.5`, `10.0.0.0/8`, `fd00::/8`. */
export function proxiesOf(list: readonly string[]): BlockList {
  const proxies = new BlockList();
  for (const one of list) {
    const [address = '', bits] = one.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return proxies;
}

/** An address as proxies write it: with a port, in brackets, or IPv4 mapped to IPv6. null for anything else. */
function addressOf(written: string): string | null {
  const text = written.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) === 0 ? null : address;
}

const isOf = (proxies: BlockList, address: string): boolean => proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

/** The nearest address that is not one of our proxies: anything further left may be forged. */
export function clientAddress(peer: string | undefined, forwardedFor: string | undefined, proxies: BlockList): string {
  let nearest = addressOf(peer ?? '') ?? 'unknown';
  for (const hop of (forwardedFor ?? '').split(',').reverse()) {
    if (nearest === 'unknown' || !isOf(proxies, nearest)) break;
    const next = addressOf(hop);
    if (next === null) break;
    nearest = next;
  }
  return nearest;
}

const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'forwarded', 'x-real-ip'];

/** The header with the client's address. Its name is random, so that a request from before `watchForwarded` cannot forge it. */
export const clientHeader = (): string => perProcess('client-header', () => `x-outbox-console-${randomBytes(16).toString('hex')}`);

/** Reduces X-Forwarded-For to the client's address, and keeps the other headers only from configured proxies. */
function tidyForwarded({ headers, socket }: IncomingMessage, proxies: BlockList, onIgnored: (peer: string) => void): void {
  const peer = addressOf(socket.remoteAddress ?? '');
  const client = clientAddress(socket.remoteAddress, headers['x-forwarded-for']?.toString(), proxies);
  if (peer === null || !isOf(proxies, peer)) {
    if (headers['x-forwarded-for'] !== undefined) onIgnored(client);
    for (const name of FORWARDED) Reflect.deleteProperty(headers, name);
  }
  headers['x-forwarded-for'] = client;
  headers[clientHeader()] = client;
}

/** Corrects the headers of every request before others read them. `onIgnored`: called for a peer that is not a proxy but sent some. */
export function watchForwarded(list: readonly string[], onIgnored: (peer: string) => void): void {
  const proxies = proxiesOf(list);
  subscribe('http.server.request.start', (message) => tidyForwarded((message as { request: IncomingMessage }).request, proxies, onIgnored));
}
