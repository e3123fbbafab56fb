/**
 * The process of the demo's services, relays and sink. Its starter stops it by message; when the starter is gone without
 * a word, it stops by itself and takes PostgreSQL with it.
 */
import type { FromWorld, ToWorld, WorldOrder } from './messages';
import { startWorld, type World } from './world';

let world: World | null = null;
let stopping: Promise<void> | null = null;

const say = (message: FromWorld) => process.send?.(message);

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function start(order: WorldOrder): Promise<void> {
  const superuserUrl = (database: string) => {
    const url = new URL(order.postgresUrl);
    url.pathname = `/${database}`;
    return url.href;
  };
  // What relays log is their business: the demo is about what can be seen without it.
  world = await startWorld({
    superuserUrl,
    storeUrl: order.storeUrl,
    configPath: order.configPath,
    seed: order.seed,
    mysqlUrl: order.mysqlUrl,
    embedding: order.embedding,
    log: () => undefined,
  });
  world.broken.catch((error: unknown) => say({ kind: 'broken', message: text(error) }));
  say({ kind: 'started', sinkUrl: world.sinkUrl, databases: world.databases });
}

function stop(): Promise<void> {
  stopping ??= (world?.stop() ?? Promise.resolve()).catch(() => undefined);
  return stopping;
}

/** What the starter has started besides us: signals to send when it is gone. */
const others: [pid: number, signal: NodeJS.Signals][] = [];

process.on('message', (message: ToWorld) => {
  switch (message.kind) {
    case 'start':
      others.push([message.order.postgresPid, 'SIGINT']);
      start(message.order).catch((error: unknown) => say({ kind: 'broken', message: text(error) }));
      return;
    case 'console':
      // First and by force, as it uses the database; the minus sign means its whole group.
      others.unshift([-message.pid, 'SIGKILL']);
      return;
    case 'postgres':
      others.push([message.pid, 'SIGINT']);
      return;
    case 'stop':
      void stop().then(() => process.exit(0));
  }
});

process.on('disconnect', () => {
  void stop().then(() => {
    for (const [pid, signal] of others) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has gone first.
      }
    }
    process.exit(1);
  });
});

// The starter decides: a signal to the whole group must not end the world before it has heard of it.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
