/** The demo's environment, read in this one place. */
import path from 'node:path';
import { isLoopback } from '@/lib/env';
import { mysqlParameters } from '@/lib/shared/mysql-url';

const ROOT = path.resolve(import.meta.dirname, '..');

export interface DemoEnvironment {
  root: string;
  host: string;
  port: number;
  /** Address people open, with the base path. */
  url: string;
  /** As the console has it: next.config.js checks it. */
  basePath: string;
  seed: string;
  /** Where programs and data go that PostgreSQL's own user must reach; undefined: decided by us. */
  demoDir: string | undefined;
  /** Where configuration and `demo.json` are written. */
  stateDir: string;
  /** A server that the outbox which is at home on MySQL is to be on; undefined: PostgreSQL, like the others. */
  mysqlUrl: string | undefined;
  password: string | undefined;
  token: string | undefined;
}

export type DemoEnvironmentReading = { ok: true; env: DemoEnvironment } | { ok: false; problems: string[] };

/** Reads and checks the environment; everything wrong with it at once. The demo has known accounts, so it stays at home. */
export function readDemoEnvironment(source: Record<string, string | undefined> = process.env): DemoEnvironmentReading {
  const given = (name: string) => source[name]?.trim() || undefined;
  const host = given('HOST') ?? '127.0.0.1';
  const port = given('PORT') ?? '3000';
  const password = given('OUTBOX_DEMO_PASSWORD');
  const token = given('OUTBOX_DEMO_TOKEN');
  const basePath = given('OUTBOX_CONSOLE_BASE_PATH') ?? '';
  const problems: string[] = [];
  if (!isLoopback(host)) {
    problems.push(
      `HOST: the demo has accounts and a token that anybody can know, so it listens on this machine only; unset HOST or use 127.0.0.1, not ${host}`,
    );
  }
  for (const name of ['NODE_ENV', 'APP_ENV', 'ENVIRONMENT']) {
    if (/^prod(uction)?$/i.test(given(name) ?? '')) {
      problems.push(
        `${name}: says production, and the demo has accounts and a token that anybody can know; unset it, or run npm start for production`,
      );
    }
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    problems.push(`PORT: write a port number, 1 to 65535, not ${port}`);
  const mysqlUrl = given('OUTBOX_DEMO_MYSQL_URL');
  const wrong = mysqlUrl === undefined ? null : mysqlProblem(mysqlUrl);
  if (wrong !== null) problems.push(`OUTBOX_DEMO_MYSQL_URL: ${wrong}`);
  if (password !== undefined && [...password].length < 8) problems.push('OUTBOX_DEMO_PASSWORD: use at least 8 characters');
  if (token !== undefined && token.length < 16) problems.push('OUTBOX_DEMO_TOKEN: use at least 16 characters');
  if (problems.length > 0) return { ok: false, problems };
  const stateDir = given('OUTBOX_DEMO_STATE');
  return {
    ok: true,
    env: {
      root: ROOT,
      // An address is what Next is given: `localhost` may stand for either family.
      host: host === 'localhost' ? '127.0.0.1' : host.replace(/^\[|\]$/g, ''),
      port: Number(port),
      url: `http://localhost:${port}${basePath}`,
      basePath,
      seed: given('OUTBOX_DEMO_SEED') ?? 'outbox',
      demoDir: given('OUTBOX_DEMO_DIR'),
      stateDir: stateDir === undefined ? path.join(ROOT, '.outbox-console') : path.resolve(ROOT, stateDir),
      mysqlUrl,
      password,
      token,
    },
  };
}

/** What is wrong with a connection string, without repeating it: it holds a password. */
function mysqlProblem(text: string): string | null {
  if (!URL.canParse(text) || !/^(mysql|mariadb):/.test(text)) return 'write mysql://user:password@host:port';
  const parameters = mysqlParameters(new URL(text));
  return typeof parameters === 'string' ? parameters : null;
}

/** The environment for a program the demo starts: ours, with `changes` on top; `undefined` takes a variable away. */
export function environmentFor(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes };
}
