import type { Outbox } from '@/lib/outbox/outbox';
import { STEP_SECONDS, WINDOW_SECONDS, type Window } from '@/lib/shared/windows';
import { AXES, type Axis } from './base';
import type { Reach, Reading } from './reading';
import { readingStatement, sourcesFor, type ReadingRow, type ReadingStatement } from './reading-sql';
import { PARTS, type Part } from './sources';
import { steer } from './spelling';

/** Below the reader's own limit, so that figures are never more than 5 s old when they arrive. */
const STATEMENT_MS = 4_500;

/** Takes one reading in one read-only transaction. Throws DatabaseFailure. */
export async function takeReading(outbox: Outbox, window: Window): Promise<Reading> {
  const statement = readingStatement(outbox, window);
  const row = await outbox.database.read(
    async (db) => {
      await steer(db);
      const { rows } = await statement.statement.execute(db);
      return rows[0];
    },
    { statementMs: STATEMENT_MS },
  );
  if (row === undefined) throw new Error('A reading answers one row');
  return toReading(statement, row, window);
}

type Owned = Record<string, Record<string, unknown>>;
type Steps = Record<Axis, { step: number; figures: Owned }[]>;

function toReading({ sources, absent, traits }: ReadingStatement, row: ReadingRow, window: Window): Reading {
  const rowsRead = JSON.parse(row.rows_read) as Record<string, number>;
  const lines = JSON.parse(row.lines) as Steps;
  const reachOf = (part: Part): Reach => {
    if (absent.includes(part)) return 'absent';
    return sourcesFor(part, sources).some(({ name, limit }) => (rowsRead[name] ?? 0) >= limit) ? 'cut' : 'complete';
  };
  const perPart = <T>(value: (part: Part) => T): Record<Part, T> =>
    Object.fromEntries(PARTS.map((part) => [part, value(part)])) as Record<Part, T>;
  const stepSeconds = STEP_SECONDS[window];
  return {
    asOf: row.as_of,
    window,
    stepSeconds,
    traits,
    reach: perPart(reachOf),
    ordered: perPart((part) => sourcesFor(part, sources).every((source) => source.ordered)),
    firstKnownAt: row.first_known,
    rowsRead: Object.values(rowsRead).reduce((sum, rows) => sum + rows, 0),
    figures: JSON.parse(row.figures) as Owned,
    types: JSON.parse(row.types) as { type: string; figures: Owned }[],
    lines: Object.fromEntries(AXES.map((axis) => [axis, new Map(lines[axis].map((row) => [row.step, row.figures]))])) as Reading['lines'],
    points: { count: WINDOW_SECONDS[window] / stepSeconds, lastStep: Math.floor(Date.parse(row.as_of) / 1_000 / stepSeconds) },
  };
}
