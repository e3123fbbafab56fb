/**
 * What statements really did: the server itself writes each statement of an observed role down, with the plan it ran
 * and the pages it touched (auto_explain: EXPLAIN (ANALYZE, BUFFERS) of the very execution). Ours, the naive ones and
 * another program's are measured by the same instrument; nothing is retyped or run a second time.
 */
import { randomUUID } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchServer, Role } from './server';

export interface Plan {
  'Node Type': string;
  'Subplan Name'?: string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  'Temp Read Blocks'?: number;
  'Temp Written Blocks'?: number;
  Plans?: Plan[];
}

/** One statement as it was executed. */
export interface Executed {
  sql: string;
  role: string;
  application: string;
  /** In the server, from the executor's start to its end. */
  ms: number;
  /** Pages of 8 kB touched, found in memory or not. */
  buffers: number;
  /** Temporary pages read and written. */
  temp: number;
  plan: Plan;
}

const MARKER_TIMEOUT_MS = 10_000;

/** Runs `work` and answers every statement that `roles` executed meanwhile, in the order of their ends. */
export async function executedDuring(server: BenchServer, roles: readonly Role[], work: () => Promise<unknown>): Promise<Executed[]> {
  const from = (await stat(server.log)).size;
  await work();
  await untilIdle(server, roles);
  const text = await logUntilMarker(server, from);
  return text
    .split(/^@@/m)
    .flatMap(toExecuted)
    .filter((one) => (roles as readonly string[]).includes(one.role));
}

/** A statement is written down when it is over for the server, which may be after its answer has come. */
async function untilIdle(server: BenchServer, roles: readonly Role[]): Promise<void> {
  const names = roles.map((role) => `'${role}'`).join();
  const until = Date.now() + MARKER_TIMEOUT_MS;
  while (Date.now() < until) {
    const busy = await server.query('postgres', `SELECT 1 FROM pg_stat_activity WHERE usename IN (${names}) AND state <> 'idle'`);
    if (busy.length === 0) return;
    await sleep(20);
  }
  throw new Error(`${names} did not become idle`);
}

/** The log is complete up to a line that is written after the work. */
async function logUntilMarker(server: BenchServer, from: number): Promise<string> {
  const marker = `bench marker ${randomUUID()}`;
  await server.query('postgres', `DO $$ BEGIN RAISE LOG '${marker}'; END $$`);
  const until = Date.now() + MARKER_TIMEOUT_MS;
  while (Date.now() < until) {
    const text = await readFrom(server.log, from);
    if (text.includes(marker)) return text;
    await sleep(20);
  }
  throw new Error(`The server's log ${server.log} does not grow: is it written elsewhere?`);
}

async function readFrom(file: string, from: number): Promise<string> {
  const handle = await open(file);
  try {
    const length = (await handle.stat()).size - from;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await handle.close();
  }
}

function toExecuted(entry: string): Executed[] {
  const match = /^([^|]*)\|\d+\|([^|]*)\|LOG: {2}duration: ([\d.]+) ms {2}plan:\s*({[\s\S]*)/.exec(entry);
  if (match === null) return [];
  const [, role = '', application = '', ms = '0', json = '{}'] = match;
  const explained = JSON.parse(json.slice(0, json.lastIndexOf('}') + 1)) as { 'Query Text': string; Plan: Plan };
  const { Plan: plan } = explained;
  return [
    {
      sql: explained['Query Text'],
      role,
      application,
      ms: Number(ms),
      buffers: buffersOf(plan),
      temp: (plan['Temp Read Blocks'] ?? 0) + (plan['Temp Written Blocks'] ?? 0),
      plan,
    },
  ];
}

export const buffersOf = (plan: Plan): number => (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);

/** The named parts (CTEs) of a plan that read tables, with the pages each touched. */
export function partsOf(plan: Plan): Map<string, { buffers: number; rows: number }> {
  const parts = new Map<string, { buffers: number; rows: number }>();
  const visit = (node: Plan): void => {
    const name = node['Subplan Name'];
    if (name?.startsWith('CTE ') === true && readsTables(node)) {
      parts.set(name.slice(4), { buffers: buffersOf(node), rows: node['Actual Rows'] * node['Actual Loops'] });
    }
    node.Plans?.forEach(visit);
  };
  visit(plan);
  return parts;
}

function readsTables(node: Plan): boolean {
  return (
    node['Relation Name'] !== undefined ||
    (node.Plans ?? []).some((child) => child['Subplan Name']?.startsWith('CTE ') !== true && readsTables(child))
  );
}

/** The parts of a plan that read a table along one of these indexes, heap pages included. */
export function scansOfIndexes(plan: Plan, indexes: readonly string[]): Plan[] {
  const along = (node: Plan): boolean => indexes.includes(node['Index Name'] ?? '') || (node.Plans ?? []).some(along);
  return plan['Relation Name'] !== undefined && along(plan) ? [plan] : (plan.Plans ?? []).flatMap((node) => scansOfIndexes(node, indexes));
}

/** Names of the tables and how each was read, for example `Seq Scan outbox_events`. */
export function scansOf(plan: Plan): string[] {
  const own = plan['Relation Name'] === undefined ? [] : [`${plan['Node Type']} ${plan['Index Name'] ?? plan['Relation Name']}`];
  return [...new Set([...own, ...(plan.Plans ?? []).flatMap(scansOf)])];
}
