/** `npm run bench [-- <name>… [--rows N[,N]]]`: measures, prints, writes bench/results/<name>.json, fails when a budget is missed. */
import { parseArgs } from 'node:util';
import type { Bench } from './bench';
import { causesBench } from './causes';
import { collectorBench } from './collector';
import { connectionsBench } from './connections';
import { doctorBench } from './doctor';
import { writeDocs } from './docs';
import { readBenchEnvironment } from './env';
import { exactlyOnceBench } from './exactly-once';
import { fleetBench } from './fleet';
import { liveBench } from './live';
import { mysqlBench } from './mysql';
import { peerBench } from './peer';
import { recordsBench } from './records';
import { relayBench } from './relay';
import { rollupBench } from './rollup';
import { runsBench, slowRunsBench } from './runs';
import { createDatabases } from './support/databases';
import { budgetTable, commit, judge, machine, markdown, writeResults, type Results, type Table } from './support/report';
import { startBenchServer } from './support/server';
import { verdictsBench } from './verdicts';
import { viewersBench } from './viewers';
import { watchingBench } from './watching';

const BENCHES: readonly Bench[] = [
  liveBench,
  recordsBench,
  doctorBench,
  mysqlBench,
  rollupBench,
  peerBench,
  relayBench,
  watchingBench,
  collectorBench,
  causesBench,
  exactlyOnceBench,
  verdictsBench,
  fleetBench,
  viewersBench,
  connectionsBench,
  runsBench,
  slowRunsBench,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string' },
    list: { type: 'boolean' },
    'write-docs': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help || values.list) {
  console.log('npm run bench -- [name …] [--rows 1000000[,10000000]]\n');
  for (const { name, about, rows } of BENCHES)
    console.log(
      `${name.padEnd(10)} ${about}${rows.length === 0 ? '' : ` (${rows.map((n) => n.toLocaleString('en-US')).join(', ')} rows)`}`,
    );
  process.exit(0);
}
if (values['write-docs']) {
  await writeDocs(readBenchEnvironment().root);
  process.exit(0);
}
const rows = values.rows?.split(',').map((text) => Number(text.replaceAll('_', '')));
if (rows?.some((n) => !Number.isInteger(n) || n < 10_000)) fail('--rows: whole numbers of at least 10000, with commas between them');
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) fail(`There is no benchmark ${unknown.join(', ')}; there are ${BENCHES.map((bench) => bench.name).join(', ')}`);
const chosen = positionals.length === 0 ? BENCHES : BENCHES.filter((bench) => positionals.includes(bench.name));

const { root, dir } = readBenchEnvironment();
const server = await startBenchServer(dir);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.stop().finally(() => process.exit(130)));
const databases = createDatabases(server);
let missed = 0;
try {
  for (const bench of chosen) missed += await run(bench);
} finally {
  await server.stop();
}
console.log(missed === 0 ? 'every budget kept' : `${missed} budget${missed === 1 ? '' : 's'} missed`);
process.exit(missed === 0 ? 0 : 1);

async function run(bench: Bench): Promise<number> {
  const begun = Date.now();
  console.log(`\n# ${bench.name}: ${bench.about}`);
  const outcome = await bench.run({ server, databases, rows: rows ?? bench.rows, root, dir });
  const budgets = outcome.budgets.map(judge);
  const results: Results = {
    bench: bench.name,
    command: `npm run bench -- ${bench.name}${rows === undefined ? '' : ` --rows ${rows.join(',')}`}`,
    at: new Date().toISOString(),
    machine: machine(server.version),
    commit: commit(root),
    settings: server.settings,
    ...(outcome.observed === undefined ? {} : { observed: outcome.observed }),
    tookSeconds: Math.round((Date.now() - begun) / 1_000),
    tables: outcome.tables,
    budgets,
    notes: outcome.notes,
  };
  for (const table of [...outcome.tables, budgetTable(budgets)]) print(table);
  for (const note of outcome.notes) console.log(`- ${note}`);
  console.log(`${await writeResults(root, results)} · ${results.tookSeconds} s`);
  return budgets.filter(({ ok }) => !ok).length;
}

function print(table: Table): void {
  console.log(`\n${table.title}\n\n${markdown(table)}`);
}

function fail(problem: string): never {
  console.error(problem);
  process.exit(2);
}
