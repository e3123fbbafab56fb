/** What the server itself counts for a role: statements, pages, time; and the processor time of its backends. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { BenchServer, Role } from './server';

export interface Counters {
  /** Executions, settings and BEGIN included. */
  calls: number;
  /** Pages touched. */
  buffers: number;
  /** Executing and planning, in milliseconds. */
  ms: number;
  rows: number;
  /** Processor time of the role's backends in milliseconds; null where the system does not tell. */
  cpuMs: number | null;
}

/** Counters of a role in a database since the server started; take the difference of two. */
export async function countersOf(server: BenchServer, database: string, role: Role): Promise<Counters> {
  const [row] = await server.query<Record<'calls' | 'buffers' | 'rows', string> & { ms: number | null }>(
    database,
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(shared_blks_hit + shared_blks_read), 0) AS buffers, sum(total_exec_time + total_plan_time) AS ms, coalesce(sum(rows), 0) AS rows
      FROM pg_stat_statements WHERE userid = '${role}'::regrole AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  const backends = await server.query<{ pid: number }>(
    database,
    `SELECT pid FROM pg_stat_activity WHERE usename = '${role}' AND datname = current_database()`,
  );
  return {
    calls: Number(row?.calls ?? 0),
    buffers: Number(row?.buffers ?? 0),
    ms: row?.ms ?? 0,
    rows: Number(row?.rows ?? 0),
    cpuMs: await processorMs(backends.map(({ pid }) => pid)),
  };
}

export function difference(before: Counters, after: Counters): Counters {
  return {
    calls: after.calls - before.calls,
    buffers: after.buffers - before.buffers,
    ms: after.ms - before.ms,
    rows: after.rows - before.rows,
    cpuMs: before.cpuMs === null || after.cpuMs === null ? null : after.cpuMs - before.cpuMs,
  };
}

async function processorMs(pids: number[]): Promise<number | null> {
  // Without it every backend would seem to be idle.
  if (!existsSync('/proc/self/schedstat')) return null;
  let nanoseconds = 0;
  for (const pid of pids) {
    // Of one that is gone between the two looks the time is lost to us, and it was idle.
    const [ran = '0'] = (await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ');
    nanoseconds += Number(ran);
  }
  return nanoseconds / 1_000_000;
}

/** The dearest statements of a role since `from`: shortened text, executions, pages and time. */
export async function dearestStatements(
  server: BenchServer,
  database: string,
  role: Role,
  from: Map<string, Statement>,
): Promise<Statement[]> {
  const now = await statementsOf(server, database, role);
  return [...now.values()]
    .map((one) => {
      const before = from.get(one.id);
      return {
        ...one,
        calls: one.calls - (before?.calls ?? 0),
        buffers: one.buffers - (before?.buffers ?? 0),
        ms: one.ms - (before?.ms ?? 0),
      };
    })
    .filter(({ buffers }) => buffers > 0)
    .sort((a, b) => b.buffers - a.buffers);
}

export interface Statement {
  id: string;
  text: string;
  calls: number;
  buffers: number;
  ms: number;
}

export async function statementsOf(server: BenchServer, database: string, role: Role): Promise<Map<string, Statement>> {
  const rows = await server.query<{ id: string; text: string; calls: string; buffers: string; ms: number }>(
    database,
    `SELECT queryid::text AS id, regexp_replace(query, '\\s+', ' ', 'g') AS text, calls, shared_blks_hit + shared_blks_read AS buffers, total_exec_time + total_plan_time AS ms
      FROM pg_stat_statements WHERE userid = '${role}'::regrole AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return new Map(rows.map((row) => [row.id, { ...row, calls: Number(row.calls), buffers: Number(row.buffers) }]));
}
