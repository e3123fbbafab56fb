/** The environment, read in this one place. Nothing else in the product touches `process.env`. */
import { z } from 'zod';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** An empty variable is one that is not set. */
const environmentSchema = z.preprocess(
  (source) => Object.fromEntries(Object.entries(source as NodeJS.ProcessEnv).filter(([, value]) => value !== '')),
  z
    .object({
      OUTBOX_CONSOLE_CONFIG: z.string().default('./outbox-console.yaml'),
      PORT: z
        .string()
        .regex(/^\d{1,5}$/, 'write a port number, 1 to 65535')
        .transform(Number)
        .refine((port) => port >= 1 && port <= 65_535, 'write a port number, 1 to 65535')
        .default(3000),
      HOST: z
        .string()
        .regex(/^[A-Za-z0-9.:_-]+$/, 'write the address to listen on, for instance 127.0.0.1')
        .default('127.0.0.1'),
      NEXTAUTH_URL: z
        .url({ protocol: /^https?$/, error: 'write the address people open, for instance https://outbox.example.com' })
        .optional(),
      OUTBOX_CONSOLE_BASE_PATH: z.string().default(''),
      NEXTAUTH_SECRET: z.string().min(32, 'use at least 32 characters, for instance from: openssl rand -base64 48').optional(),
      OUTBOX_CONSOLE_EMBEDDED_STORE: z.string().optional(),
      LOG_LEVEL: z.enum(LOG_LEVELS, `write one of ${LOG_LEVELS.join(', ')}`).default('info'),
      NODE_ENV: z.string().default('development'),
    })
    .transform((values) => ({
      /** Path of the configuration file, as given. */
      configPath: values.OUTBOX_CONSOLE_CONFIG,
      port: values.PORT,
      host: values.HOST,
      /** Origin people open, e.g. `https://outbox.example.com`; undefined when it was not given. */
      publicUrl: values.NEXTAUTH_URL === undefined ? undefined : new URL(values.NEXTAUTH_URL).origin,
      /** Where below that origin it is served, `/outbox`; '' at the root. What a build was made for is BASE_PATH; the starter compares them. */
      basePath: values.OUTBOX_CONSOLE_BASE_PATH,
      /** The embedded store that the starter runs, when the configuration names no store. */
      embeddedStoreUrl: values.OUTBOX_CONSOLE_EMBEDDED_STORE,
      /** Signs and encrypts session cookies; undefined when it was not given. */
      secret: values.NEXTAUTH_SECRET,
      logLevel: values.LOG_LEVEL,
      production: values.NODE_ENV === 'production',
    })),
);

export type Environment = z.infer<typeof environmentSchema>;

export type EnvironmentReading = { ok: true; env: Environment } | { ok: false; problems: string[] };

/** Reads and checks the environment; every problem at once, each line beginning with the variable's name. */
export function readEnvironment(source: Record<string, string | undefined> = process.env): EnvironmentReading {
  const { data, error } = environmentSchema.safeParse(source);
  const problems = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
  const { NEXTAUTH_URL: url = '', OUTBOX_CONSOLE_BASE_PATH: basePath = '' } = source;
  // With the base path or without; next-auth is handed its own address below it.
  const paths = basePath === '' ? ['/'] : ['/', basePath, `${basePath}/`, `${basePath}/api/auth`];
  if (URL.canParse(url) && !paths.includes(new URL(url).pathname))
    problems.push(
      basePath === ''
        ? 'NEXTAUTH_URL: write the address without a path: the console lives at the root of its host, unless OUTBOX_CONSOLE_BASE_PATH says otherwise'
        : `NEXTAUTH_URL: write the address without a path, or with ${basePath}, which OUTBOX_CONSOLE_BASE_PATH says`,
    );
  return data !== undefined && problems.length === 0 ? { ok: true, env: data } : { ok: false, problems };
}

/** The environment of a process that was started with a good one; throws naming every problem otherwise. */
export function environment(): Environment {
  const reading = readEnvironment();
  if (!reading.ok) throw new Error(`The environment is not usable:\n${reading.problems.join('\n')}`);
  return reading.env;
}

/** The value of a variable that the configuration names as `${NAME}`; undefined when unset. */
export const environmentValue = (name: string): string | undefined => process.env[name];

/** The origin people open: NEXTAUTH_URL, or this machine's own when it listens on loopback only. Null when it must be given. */
export const publicOriginOf = (env: Environment): string | null =>
  env.publicUrl !== undefined ? env.publicUrl : isLoopback(env.host) ? `http://localhost:${env.port}` : null;

/** What next-auth is told of an origin and a base path: where its own routes are, unless that is the usual place. */
export const authAddress = (origin: string, basePath: string): string => (basePath === '' ? origin : `${origin}${basePath}/api/auth`);

/** Everything, for a child process, with `changes` on top. */
export const childEnvironment = (changes: Record<string, string>): Record<string, string | undefined> => ({ ...process.env, ...changes });

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/** True for an address that only this machine can reach. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase());
