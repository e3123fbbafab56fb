/** The schema of the configuration file. The product uses `Config` of config.ts. */
import { tableRefSchema } from '@/lib/shape/schema/names';
import { shapeSchema } from '@/lib/shape/shape';
import { CONNECTIONS_PER_SERVER_MIN } from '@/lib/shared/connections';
import { formatPath, rawSteps } from '@/lib/shared/lists/document-path';
import { isTimeZone } from '@/lib/shared/preferences';
import { isIP } from 'node:net';
import { z } from 'zod';

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `30s`, `5m`, `2h`, `1d`, `90` or `1h 30m` into seconds; null for anything else, and for 0. */
export function parseDurationSeconds(text: string | number): number | null {
  if (typeof text === 'number') return Number.isFinite(text) && text > 0 ? text : null;
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed) > 0 ? Number(trimmed) : null;
  if (!/^(\d+\s*[smhd]\s*)+$/.test(trimmed)) return null;
  let seconds = 0;
  for (const [, amount, unit = ''] of trimmed.matchAll(/(\d+)\s*([smhd])/g)) seconds += Number(amount) * (UNIT_SECONDS[unit] ?? 0);
  return seconds > 0 ? seconds : null;
}

const STEP = String.raw`(?:\*|[^\s.[\]"'\\]+)`;
const BRACKET = String.raw`\[(?:\*|\d+|"[^"]+"|'[^']+')\]`;
const FIELD_PATH = new RegExp(`^(?:\\$|${STEP}|${BRACKET})(?:\\.${STEP}|${BRACKET})*$`);

/** Roots are no fields by themselves: a path continues from them. */
const ROOTS = ['$', 'payload', 'headers'];

/** True for a path into an event: `payload.items[*].price`, `payload["a.b"].c`, `headers.x`; without a root it is in the payload. */
export const isFieldPath = (text: string): boolean => text.length <= 512 && FIELD_PATH.test(text) && !ROOTS.includes(text);

const slug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'write a slug: small letters, digits and single dashes, for instance orders-kafka')
  .max(63, 'at most 63 characters');

const fieldPath = z
  .string()
  .refine(isFieldPath, 'write a path such as payload.customer.email or headers.authorization')
  .describe('Path into the event, for instance `payload.customer.email`; `*` stands for every key or index');

const keyPath = fieldPath.refine((text) => !rawSteps(text).some((step) => step.startsWith('*')), 'name one value: a key cannot hold *');

/** Accepts text too, as `${ENV}` gives text. */
const wholeNumber = (least: number, most = 1_000_000) =>
  z
    .union([z.int(), z.string().regex(/^\d+$/, 'write a whole number').transform(Number)])
    .refine((value) => value >= least && value <= most, `write a whole number from ${least} to ${most}`);

const duration = z
  .union([z.number(), z.string()])
  .transform((text, context) => {
    const seconds = parseDurationSeconds(text);
    if (seconds === null) context.addIssue({ code: 'custom', message: 'write a duration such as 30s, 5m, 1h or a number of seconds' });
    return seconds ?? z.NEVER;
  })
  .describe('`30s`, `5m`, `1h`, or seconds');

export const DAY_SECONDS = 86_400;
const tick = duration.refine((seconds) => seconds >= 1 && seconds <= 60, 'write a duration from 1s to 60s');
const isKept = (days: number): boolean => days >= 3 && days <= 3_650;
const keep = duration.refine((seconds) => isKept(seconds / DAY_SECONDS), 'write a duration from 3d to 3650d');

/** Each one without an index costs every search of it a look through the table. */
const KEYS_MAX = 8;

const later = z.unknown();

const databaseUrl = z.string().min(1, 'write a connection string, for instance postgresql://reader@host:5432/orders');

const databaseSchema = z.strictObject({
  url: databaseUrl.describe("The reader's connection string: a login that cannot write"),
  operatorUrl: databaseUrl.optional().describe("The operator's connection string; without it the outboxes are read-only"),
  replicaUrl: later.optional().describe('Does nothing; a `url` on a standby does what it was for'),
});

const linkUrl = z
  .string()
  .regex(/^https?:\/\//, 'write an address that begins with https:// or http://')
  .describe('Address with `{field}` placeholders, for instance `https://shop.example.com/orders/{aggregateId}`');

const linksSchema = z.union([
  z.array(z.strictObject({ label: z.string().min(1).max(80), url: linkUrl })),
  z.record(z.string().min(1).max(80), linkUrl).transform((links) => Object.entries(links).map(([label, url]) => ({ label, url }))),
]);

const amountSchema = z.union([
  fieldPath.transform((value) => ({ value, currency: undefined })),
  z
    .strictObject({ value: fieldPath.optional(), path: fieldPath.optional(), currency: fieldPath.optional() })
    .transform(({ value, path, currency }) => ({ value: value ?? path ?? '', currency })),
]);

/** A mapping in the configuration: the shape language, without what the outbox already says. */
const inlineShapeSchema = z.strictObject({
  ...shapeSchema.omit({ key: true, proven: true }).shape,
  label: shapeSchema.shape.label.optional(),
  origin: shapeSchema.shape.origin.optional(),
  engines: shapeSchema.shape.engines.optional(),
  table: shapeSchema.shape.table.optional(),
  /** Built-in shapes have it for tests; ignored in a mapping. */
  sample: z.unknown().optional(),
});

const parametersSchema = z.object({
  maxAttempts: wholeNumber(1).optional(),
  stuckAfter: duration.optional().describe('How old a claim must be before it counts as stuck'),
  timeZone: z.string().refine(isTimeZone, 'write a time zone such as UTC or Asia/Seoul').optional(),
  deadTable: tableRefSchema.optional(),
  channel: z.string().min(1).max(63).optional().describe('Channel that wakes the relay'),
});

/** Parameters every outbox may have, whatever its shape. */
export const PARAMETERS = Object.keys(parametersSchema.shape);

const outboxSchema = z.strictObject({
  id: slug,
  name: z.string().trim().min(1).max(120).optional().describe('What people call it; the id when left out'),
  database: z.string().min(1).describe('Id of one of `databases`'),
  table: tableRefSchema,
  shape: z.union([z.string().min(1), inlineShapeSchema]).describe('Key of a built-in shape, or a mapping of your own'),
  // A shape's own parameters are checked by name in checks.ts.
  parameters: parametersSchema.catchall(z.union([z.number(), z.string()])).optional(),
  links: linksSchema.optional(),
  amount: amountSchema.optional(),
  mask: z.array(fieldPath).optional().describe('Fields that only roles with the right to see them get in the clear'),
  runbook: z
    .url({ protocol: /^https?$/, error: 'write an address that begins with https:// or http://' })
    .optional()
    .describe('Address of what to do when its relay has stopped'),
  keys: z
    .array(keyPath)
    .max(KEYS_MAX, `name at most ${KEYS_MAX}`)
    .optional()
    .describe('Business keys that events are found by besides id, dedup key and aggregate id, for instance `payload.order_id`'),
  consumers: z
    .record(z.string().min(1).max(512), z.enum(['idempotent', 'not']))
    .optional()
    .describe('Event type → whether who consumes it takes an event twice without harm'),
});

const DECIMAL = /^\d{1,30}(\.\d{1,20})?$/;

/** As text: 10000.10 in a YAML file is a floating-point number. */
const decimal = z
  .union([z.int().min(0), z.string().regex(DECIMAL, 'write an amount in quotes, such as "10000" or "99.50"')])
  .transform(String)
  .describe('`"10000"`, `"99.50"`');

const atLeastOne = 'write at least one, or leave it out for all';

/** Names are checked in checks.ts. */
const approvalSchema = z.strictObject({
  outboxes: z.array(z.string()).min(1, atLeastOne).optional().describe('All when left out'),
  operations: z.array(z.string()).min(1, atLeastOne).optional().describe('retry, requeue, release, archive, restore; all when left out'),
  rows: wholeNumber(0).optional().describe('Asks for more events than this'),
  amount: z
    .record(z.string().max(20), decimal)
    .refine((limits) => Object.keys(limits).length > 0, 'write at least one currency, or leave it out')
    .optional()
    .describe(
      'Asks for more than this in all, for instance `{EUR: "10000"}`; for any amount in another currency, and where one is not known',
    ),
  notIdempotent: z.boolean().optional().describe('Asks for events of types that `consumers` does not call idempotent'),
});

const network = z
  .string()
  .refine(isNetwork, 'write an address such as 10.0.0.5, or a network such as 10.0.0.0/8')
  .describe('`10.0.0.5`, `10.0.0.0/8`, `fd00::/8`');

/** An IP address, or a network in CIDR notation. The whole internet (/0) is refused. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (family === 4 ? 32 : 128));
}

/** What is beyond types is checked in embedding.ts. */
const embeddingSchema = z.strictObject({
  origins: z.array(z.string()).optional().describe('Pages that may show cards, `https://orders.example.com`; no other page may'),
  session: z.boolean().optional().describe('Whether who is signed in sees cards on pages of the same site; false when left out'),
  keys: z
    .array(
      z.strictObject({
        id: slug.describe('What a token names as `kid`'),
        secret: z.string().optional().describe('For HS256: at least 32 bytes'),
        publicKey: z
          .union([z.string(), z.record(z.string(), z.unknown())])
          .optional()
          .describe('For EdDSA: Ed25519, as SPKI PEM or JWK'),
        outboxes: z.array(z.string()).min(1, atLeastOne).optional().describe('All when left out'),
      }),
    )
    .optional()
    .describe("Keys of the back ends that sign tokens for their pages' cards"),
});

export const fileSchema = z.strictObject({
  $schema: z.string().optional(),
  store: z.string().min(1).optional().describe("The console's own PostgreSQL; an embedded one when left out"),
  databases: z.record(slug, databaseSchema),
  outboxes: z.array(outboxSchema).default([]).describe('None while you are still looking for them: `console detect`, or Find outboxes'),
  connections: z
    .strictObject({
      perServer: wholeNumber(CONNECTIONS_PER_SERVER_MIN, 1_000)
        .optional()
        .describe('Most connections of one console to one database server, over all its databases; 24 when left out, 3 at the least'),
    })
    .optional(),
  auth: z
    .strictObject({
      sessionHours: z.number().min(0.25).max(24).optional().describe('How long a sign-in lasts; 8 when left out'),
      trustedProxies: z.array(network).optional().describe('Addresses or networks of the proxies in front, whose X-Forwarded-For counts'),
    })
    .optional(),
  roles: later.optional(),
  alerts: later.optional(),
  approvals: z
    .array(approvalSchema)
    .optional()
    .describe('When a second person has to agree to a change; a rule without limits always asks'),
  retention: z
    .strictObject({ rollups: keep.optional().describe('How long the history of figures is kept; 400d when left out') })
    .optional(),
  embedding: embeddingSchema.optional(),
  metrics: z
    .strictObject({
      anonymous: z.boolean().optional(),
      tick: tick.optional().describe('How often each outbox is looked at: 5s when left out; from 1s to 60s'),
    })
    .optional(),
});
export type ConfigFile = z.infer<typeof fileSchema>;
export type OutboxEntry = ConfigFile['outboxes'][number];

const LATER_KEYS = ['roles', 'alerts'] as const satisfies (keyof ConfigFile)[];

export function laterKeys(file: ConfigFile): string[] {
  const nothing = 'this version does nothing with it';
  const inDatabases = Object.entries(file.databases).filter(([, { replicaUrl }]) => replicaUrl !== undefined);
  return [
    ...LATER_KEYS.filter((key) => file[key] !== undefined).map((key) => `${key}: ${nothing}`),
    ...inDatabases.map(([id]) => `${formatPath(['databases', id, 'replicaUrl'])}: ${nothing}; a url on a standby does the same`),
  ];
}
