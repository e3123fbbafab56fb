import net from 'node:net';

export interface CountingLine {
  /** The server's URL, by way of this line. */
  url: string;
  /** How often a client has said something after the server had answered, so far. */
  ways(): number;
  close(): void;
}

/** A line to a server on this machine that counts ways there and back. */
export async function countingLine(to: string): Promise<CountingLine> {
  let ways = 0;
  const target = Number(new URL(to).port);
  const server = net.createServer((client) => {
    let answered = true;
    const upstream = net.connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => {
      if (answered) ways += 1;
      answered = false;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      answered = true;
      client.write(data);
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(to);
  url.port = String((server.address() as net.AddressInfo).port);
  return { url: url.href, ways: () => ways, close: () => server.close() };
}
