/** Reads the configuration file: YAML, `${ENV}`, schema, cross-checks; reports every problem at once. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { CONNECTIONS_PER_SERVER } from '@/lib/shared/connections';
import en from '@/lib/messages/en.json';
import { SHAPES } from '@/lib/shape/catalog.gen';
import type { Shape } from '@/lib/shape/shape';
import { shapeProblems } from '@/lib/shape/check';
import { formatPath } from '@/lib/shared/lists/document-path';
import type { EngineKey } from '@/lib/shared/model';
import { crossCheck, engineOf, extraParameters } from './checks';
import type { ApprovalRule, Config, ConfigReading, DatabaseConfig, Supported, OutboxConfig, UsablePart } from './config';
import { interpolate, usablePart, withIds } from './document';
import { checkEmbedding, embeddingOf } from './embedding';
import { problemLines } from './problems';
import { DAY_SECONDS, fileSchema, parseDurationSeconds, laterKeys, type ConfigFile, type OutboxEntry } from './schema';
import { recover } from './syntax';

export const SUPPORTED: Supported = {
  shapes: SHAPES,
  words: { refusals: Object.keys(en.refusals), warnings: Object.keys(en.warnings) },
};

const SESSION_HOURS = 8;
const TICK_SECONDS = 5;
const ROLLUP_DAYS = 400;
/** A rule that leaves everything out. */
const ALWAYS_ASKED: ApprovalRule = { outboxes: null, operations: null, rows: null, amount: null, notIdempotent: false };

/** The shape's own parameters that are set; durations in seconds. */
function extraOf(parameters: OutboxEntry['parameters'], own: ReturnType<typeof extraParameters>): OutboxConfig['parameters']['extra'] {
  const given = Object.entries(own).flatMap(([name, { unit }]) => {
    const value = parameters?.[name];
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    return [[name, unit === 'text' ? String(value) : unit === 's' ? (parseDurationSeconds(value) ?? 0) : Number(value)] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** A mapping as a shape; names it leaves out are the outbox's. */
function mappingOf({ sample: _, ...shape }: Exclude<OutboxEntry['shape'], string>, entry: OutboxEntry, engine: EngineKey): Shape {
  const { label = entry.name ?? entry.id, origin = 'Mapped in the configuration', engines = [engine], table = entry.table } = shape;
  return { ...shape, key: 'inline', label, origin, engines, table };
}

function outboxOf(entry: OutboxEntry, engine: EngineKey, supported: Supported): OutboxConfig {
  const { id, name = id, database, table, shape, parameters = {} } = entry;
  const { maxAttempts, stuckAfter: stuckAfterSeconds, timeZone, deadTable, channel } = parameters;
  const { links = [], amount = null, mask = [], keys = [], runbook = null, consumers = {} } = entry;
  const extra = extraOf(parameters, extraParameters(shape, supported));
  const given = { id, name, database, table, links, amount, mask, keys, runbook, consumers };
  return {
    ...given,
    shape: typeof shape === 'string' ? shape : mappingOf(shape, entry, engine),
    parameters: { maxAttempts, stuckAfterSeconds, timeZone, deadTable, channel, extra },
  };
}

function configOf(file: ConfigFile, path: string, supported: Supported): Config {
  const databases = Object.entries(file.databases).map(([id, { url, operatorUrl = null }]): DatabaseConfig => {
    return { id, engine: engineOf(url) ?? 'postgres', url, operatorUrl };
  });
  const engines = new Map(databases.map(({ id, engine }) => [id, engine]));
  return {
    path,
    storeUrl: file.store ?? null,
    databases,
    outboxes: file.outboxes.map((entry) => outboxOf(entry, engines.get(entry.database) ?? 'postgres', supported)),
    connections: { perServer: file.connections?.perServer ?? CONNECTIONS_PER_SERVER },
    auth: { sessionHours: file.auth?.sessionHours ?? SESSION_HOURS, trustedProxies: file.auth?.trustedProxies ?? [] },
    metrics: { anonymous: file.metrics?.anonymous ?? false, tickMs: (file.metrics?.tick ?? TICK_SECONDS) * 1_000 },
    approvals: (file.approvals ?? []).map((rule) => ({ ...ALWAYS_ASKED, ...rule })),
    retention: { rollupDays: Math.ceil((file.retention?.rollups ?? ROLLUP_DAYS * DAY_SECONDS) / DAY_SECONDS) },
    embedding: embeddingOf(file.embedding),
    unused: laterKeys(file),
  };
}

type LookUp = (name: string) => string | undefined;

export function parseConfig(text: string, path: string, supported: Supported, lookUp: LookUp): ConfigReading {
  const yaml = parseDocument(text, { prettyErrors: true });
  if (yaml.errors.length > 0) {
    const { document, problems, believable } = recover(text);
    const rest = document === null ? null : checkDocument(document, path, supported, lookUp, problems);
    const others = rest === null || rest.ok ? [] : rest.problems.filter((line) => !problems.includes(line) && believable(line));
    const usable = rest === null || rest.ok ? null : rest.usable;
    return { ok: false, problems: withIds(inOrder([...problems, ...others]), document), usable };
  }
  let written: unknown;
  try {
    written = yaml.toJS();
  } catch (error) {
    return unusable(`(file): not usable: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (written === null || written === undefined) return unusable('(file): empty; write databases and outboxes');
  const reading = checkDocument(written, path, supported, lookUp, []);
  return reading.ok ? reading : { ...reading, problems: withIds(reading.problems, written) };
}

/** Checks the parsed document; parts with problems in `already` are not checked further. */
function checkDocument(written: unknown, path: string, supported: Supported, lookUp: LookUp, already: readonly string[]): ConfigReading {
  const problems: string[] = [...already];
  const document = interpolate(written, lookUp, problems);
  const parsed = fileSchema.safeParse(document);
  if (!parsed.success) problems.push(...problemLines(parsed.error, fileSchema, document));
  problems.push(...crossCheck(document, supported), ...checkEmbedding(document, problems));
  const whole: UsablePart | null =
    parsed.success && problems.length === 0
      ? { config: configOf(parsed.data, path, supported), places: parsed.data.outboxes.map((_, place) => place) }
      : null;
  const checked = whole ?? usableOf(document, problems, path, supported);
  if (checked !== null) problems.push(...misuses(checked, supported));
  if (whole !== null && problems.length === 0) return { ok: true, config: whole.config };
  return { ok: false, problems: inOrder(problems), usable: usableOf(document, problems, path, supported) };
}

const unusable = (...problems: string[]): ConfigReading => ({ ok: false, problems, usable: null });

const inOrder = (problems: readonly string[]): string[] => [...new Set(problems)].sort(new Intl.Collator('en', { numeric: true }).compare);

function usableOf(document: unknown, problems: readonly string[], path: string, supported: Supported): UsablePart | null {
  const { document: part, places } = usablePart(document, problems);
  const parsed = fileSchema.safeParse(part);
  return parsed.success ? { config: configOf(parsed.data, path, supported), places } : null;
}

function misuses({ config, places }: UsablePart, { words }: Supported): string[] {
  return config.outboxes.flatMap(({ shape }, index) => {
    const at = ['outboxes', places[index] ?? index, 'shape'];
    const problems = typeof shape === 'string' ? [] : shapeProblems(shape, words);
    return problems.map(({ path, message }) => `${formatPath([...at, ...path])}: ${message}`);
  });
}

/** Reads the configuration file at `path` (relative to the working folder). */
export async function loadConfig(path: string, supported: Supported, lookUp: LookUp): Promise<ConfigReading> {
  const absolute = resolve(path);
  let text: string;
  try {
    text = await readFile(absolute, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const advice =
      code === 'ENOENT' ? 'there is no such file; write one, or name yours with OUTBOX_CONSOLE_CONFIG' : `cannot be read (${code})`;
    return unusable(`${absolute}: ${advice}`);
  }
  return parseConfig(text, absolute, supported, lookUp);
}
