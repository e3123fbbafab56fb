import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientAddress, clientHeader, proxiesOf, watchForwarded } from './client-address';

const NAMED = proxiesOf(['127.0.0.1', '10.0.0.0/8', 'fd00::/8']);

describe('the address of a client', () => {
  it.each([
    ['the peer, where nobody forwards', '203.0.113.9', undefined, '203.0.113.9'],
    ['the peer, whatever it says of others', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['what a proxy that is named says', '127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['the nearest that is no proxy, not what stands before it', '127.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['behind a chain of proxies', '127.0.0.1', '6.6.6.6, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
    ['the proxy, where it says nothing', '10.1.2.3', undefined, '10.1.2.3'],
    ['the proxy, where it says nothing that is an address', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['the last proxy, where all are', '127.0.0.1', '10.0.0.1', '10.0.0.1'],
    ['IPv4 in the clothes of IPv6', '::ffff:127.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['with a port', '127.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['IPv6 with a port', 'fd00::1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['IPv6 with a zone', 'fd00::1%eth0', '2001:db8::1', '2001:db8::1'],
    ['not known, where there is no peer', undefined, '198.51.100.1', 'unknown'],
  ])('is %s', (_, peer, forwarded, expected) => expect(clientAddress(peer, forwarded, NAMED)).toBe(expected));

  it('is the peer where no proxy is named, on this machine too', () => {
    expect(clientAddress('127.0.0.1', '198.51.100.1', proxiesOf([]))).toBe('127.0.0.1');
  });
});

describe('a server', () => {
  let server: Server;
  const seen = (headers: Record<string, string>): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      request({ port, host: '127.0.0.1', headers }, (answer) => {
        answer.setEncoding('utf8').on('data', (text: string) => resolve(JSON.parse(text) as Record<string, unknown>));
      })
        .on('error', reject)
        .end();
    });
  beforeAll(async () => {
    server = createServer((asked, answer) => answer.end(JSON.stringify(asked.headers)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('sees what the client wrote until it is watched, and then the peer alone', async () => {
    const written = { 'x-forwarded-for': '198.51.100.1', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    expect(await seen(written)).toMatchObject(written);
    const ignored: string[] = [];
    watchForwarded(['10.0.0.1'], (peer) => ignored.push(peer));
    const headers = await seen(written);
    expect(ignored).toEqual(['127.0.0.1']);
    expect(headers[clientHeader()]).toBe('127.0.0.1');
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-forwarded'))).toEqual(['x-forwarded-for']);
  });
});
