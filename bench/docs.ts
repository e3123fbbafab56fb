/**
 * The tables of docs/performance.md come from bench/results: `<!-- live: published-at -->` is followed by the table of
 * that title from live.json, up to `<!-- end -->`. `npm run bench -- --write-docs` writes them; a test compares.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { markdown, promiseTable, type Results } from './support/report';

const DOCUMENT = 'docs/performance.md';
const SECTION = /<!-- ([\w-]+): (.+?) -->[\s\S]*?<!-- end -->/g;

/** Rewrites the document's tables in place. */
export async function writeDocs(root: string): Promise<void> {
  await writeFile(path.join(root, DOCUMENT), await filledDocument(root));
}

/** The document with the tables of the results there are. Throws for a section that no result has a table for. */
export async function filledDocument(root: string): Promise<string> {
  const text = await readFile(path.join(root, DOCUMENT), 'utf8');
  const results = new Map<string, Results>();
  for (const [, bench = ''] of text.matchAll(SECTION)) if (!results.has(bench)) results.set(bench, await readResults(root, bench));
  return text.replaceAll(SECTION, (_, bench: string, title: string) => {
    const found = results.get(bench);
    if (found === undefined) throw new Error(`There are no results of ${bench}`);
    return `<!-- ${bench}: ${title} -->\n\n${section(found, title)}\n\n<!-- end -->`;
  });
}

async function readResults(root: string, bench: string): Promise<Results> {
  return JSON.parse(await readFile(path.join(root, 'bench/results', `${bench}.json`), 'utf8')) as Results;
}

function section(results: Results, title: string): string {
  if (title === 'promises') return markdown(promiseTable(results.budgets));
  if (title === 'run') return runLine(results);
  const table = results.tables.find((one) => one.title === title);
  if (table === undefined)
    throw new Error(`${results.bench} has no table "${title}"; it has ${results.tables.map((one) => one.title).join(', ')}`);
  return markdown(table);
}

function runLine({ command, at, machine, observed, tookSeconds }: Results): string {
  const { cpu, cores, memoryGb, platform, node, postgres } = machine;
  const servers = [`PostgreSQL ${postgres}`, ...(observed === undefined ? [] : [observed])].join(', ');
  return `\`${command}\`, ${at.slice(0, 10)}: ${cores} cores (${cpu.trim()}), ${memoryGb} GB, ${platform}, Node ${node}, ${servers}; ${Math.ceil(tookSeconds / 60)} minutes.`;
}
