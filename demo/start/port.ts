import { createServer } from 'node:net';

/** Rejects with what to do when nobody can listen there. */
export function mustBeFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'something listens there already; stop it, or choose another port with PORT' : error.message;
      reject(new Error(`The demo cannot listen on ${host}:${port}: ${why}.`));
    });
    server.listen(port, host, () => server.close(() => resolve()));
  });
}
