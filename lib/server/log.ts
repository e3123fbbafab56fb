import 'server-only';
import pino, { type Logger } from 'pino';
import { readEnvironment } from '@/lib/env';
import { perProcess } from '@/lib/shared/kept';

function create(): Logger {
  const reading = readEnvironment();
  return pino({ name: 'outbox-console', level: reading.ok ? reading.env.logLevel : 'info', base: { pid: process.pid } });
}

/** The process's log: one JSON line per entry on standard output. */
export const log = (): Logger => perProcess('log', create);
