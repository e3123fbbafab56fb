/** Budgets, tables and the file of results. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** One promise of the documentation, as a line that can fail. */
export interface Budget {
  name: string;
  /** What is promised, whatever the table: lines of one promise are shown as one in the documentation. */
  promise: string;
  /** null: there is no figure, because the statement ran into its timeout or was never made. */
  measured: number | null;
  limit: number;
  /** How the figure must lie to the limit; `<=` unless said. */
  rule?: '<=' | '>=';
  unit: string;
}

export interface JudgedBudget extends Budget {
  ok: boolean;
}

export type Cell = string | number | null;
export interface Table {
  title: string;
  columns: string[];
  rows: Cell[][];
}

/** What a benchmark answers. */
export interface Outcome {
  tables: Table[];
  budgets: Budget[];
  /** What a reader of the figures has to know: how something was measured, what could not be. */
  notes: string[];
  /** The server that was observed, where it is not the benchmarks' PostgreSQL: `MariaDB 10.11.19`. */
  observed?: string;
}

export interface Results {
  bench: string;
  command: string;
  at: string;
  machine: { cpu: string; cores: number; memoryGb: number; platform: string; node: string; postgres: string };
  commit: string;
  settings: Record<string, string>;
  observed?: string;
  tookSeconds: number;
  tables: Table[];
  budgets: JudgedBudget[];
  notes: string[];
}

export function judge(budget: Budget): JudgedBudget {
  const { measured, limit, rule = '<=' } = budget;
  return {
    ...budget,
    measured: measured === null ? null : rounded(measured),
    ok: measured !== null && (rule === '<=' ? measured <= limit : measured >= limit),
  };
}

const rounded = (value: number): number => (Number.isInteger(value) ? value : Number(value.toPrecision(4)));

export function machine(postgres: string): Results['machine'] {
  return {
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cores: os.cpus().length,
    memoryGb: Math.round(os.totalmem() / 1_073_741_824),
    platform: `${os.platform()} ${os.arch()}`,
    node: process.versions.node,
    postgres,
  };
}

/** The commit measured; empty outside a clone. */
export function commit(root: string): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '';
  }
}

export async function writeResults(root: string, results: Results): Promise<string> {
  const file = path.join(root, 'bench/results', `${results.bench}.json`);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
  return file;
}

/** One line per promise: its worst figure against the limit. */
export function promiseTable(budgets: readonly JudgedBudget[]): Table {
  const promises = [...new Set(budgets.map(({ promise }) => promise))];
  return {
    title: 'Promises',
    columns: ['promise', 'worst', 'limit', 'kept'],
    rows: promises.map((promise) => {
      const lines = budgets.filter((budget) => budget.promise === promise);
      const worst = lines.toSorted((a, b) => badness(b) - badness(a))[0];
      const kept = lines.filter(({ ok }) => ok).length;
      return [promise, ...(worst === undefined ? ['', ''] : measuredAndLimit(worst)), `${String(kept)} of ${String(lines.length)}`];
    }),
  };
}

const badness = ({ measured, limit, rule = '<=' }: JudgedBudget): number =>
  measured === null ? Infinity : rule === '<=' ? measured - limit : limit - measured;

const measuredAndLimit = ({ measured, limit, rule = '<=', unit }: JudgedBudget): [string, string] => [
  measured === null ? 'no figure' : `${figure(measured)} ${unit}`.trim(),
  `${rule === '<=' ? '≤' : '≥'} ${figure(limit)} ${unit}`.trim(),
];

/** A figure as the documents print it: whole above a hundred, thousands with a comma. */
export function figure(cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  const digits = Number.isInteger(cell) || Math.abs(cell) >= 100 ? 0 : Math.abs(cell) >= 10 ? 1 : Math.abs(cell) >= 0.1 ? 2 : 4;
  return cell.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A table in Markdown with the columns padded, numbers to the right. */
export function markdown({ columns, rows }: Table): string {
  const numeric = columns.map(
    (_, at) => rows.length > 0 && rows.every((row) => typeof row[at] !== 'string' || /^[–\d]/.test(row[at])) && at > 0,
  );
  const lines = [columns, ...rows.map((row) => row.map(figure))];
  const widths = columns.map((_, at) => Math.max(3, ...lines.map((line) => line[at]?.length ?? 0)));
  const line = (cells: string[]): string =>
    `| ${cells.map((cell, at) => (numeric[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (numeric[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [line(head), rule, ...body.map(line)].join('\n');
}

export function budgetTable(budgets: JudgedBudget[]): Table {
  return {
    title: 'Budgets',
    columns: ['budget', 'measured', 'limit', ''],
    rows: budgets.map((budget) => [budget.name, ...measuredAndLimit(budget), budget.ok ? 'ok' : 'MISSED']),
  };
}
