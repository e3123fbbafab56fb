import 'server-only';
import pino, { type Logger } from 'pino';
import { readEnvironment } from '@/lib/env';

export type Log = Logger;

const KEY = Symbol.for('outbox-console.log');
const holder = globalThis as { [KEY]?: Log };

function create(): Log {
  const reading = readEnvironment();
  return pino({ name: 'outbox-console', level: reading.ok ? reading.env.logLevel : 'info', base: { pid: process.pid } });
}

/** The process's log: one JSON line per entry on standard output. */
export const log = (): Log => (holder[KEY] ??= create());
