/** Makes the program of the replicas: from the sources as they are, or with something in them broken to see it found. */
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A defect: in each file what is replaced, which must be there. */
export interface Mutant {
  key: string;
  patches: { file: string; from: string; to: string }[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    key: 'broken guard',
    patches: [
      { file: 'lib/interventions/statements.ts', from: ' and ${oneOfPairs(outbox, at, column, pairs)}`', to: '`' },
      { file: 'lib/interventions/statements.ts', from: 'return state === now.state && touched ===', to: 'return true || touched ===' },
      // A plan is void whose statements are others than when it was made: not by this.
      { file: 'lib/runs/plans/void.ts', from: 'return texts === JSON.stringify(factsOf(plan).sql)', to: "return texts !== '[]'" },
    ],
  },
  {
    key: 'missing record',
    patches: [
      { file: 'lib/interventions/intervene.ts', from: 'outbox: outbox.id }, records);', to: 'outbox: outbox.id }, records.length > 3 ? records.slice(1) : records);' },
    ],
  },
  {
    key: 'repeated batch',
    patches: [{ file: 'lib/runs/run/carry.ts', from: '`run/${this.run.id}/${String(n)}`', to: "`run/${this.run.id}/${String(n)}${this.doubt ? '/again' : ''}`" }],
  },
  {
    key: '`touched` left out',
    patches: [{ file: 'lib/interventions/statements.ts', from: 'return state === now.state && touched ===', to: "return state === now.state || (state as string) === '' && touched ===" }],
  },
]; // prettier-ignore

/** Writes the bundle to this file, for `start.mjs`. Throws if the mutant does not fit the sources any more. */
export async function bundleEngine(outfile: string, mutant: Mutant | null = null): Promise<string> {
  const breaking: Plugin = {
    name: 'mutant',
    setup(context) {
      for (const file of new Set(mutant?.patches.map((patch) => patch.file)))
        context.onLoad({ filter: new RegExp(`${file.replaceAll(/[./]/g, '.')}$`) }, async ({ path: source }) => {
          let contents = await readFile(source, 'utf8');
          for (const { from, to } of mutant?.patches.filter((patch) => patch.file === file) ?? []) {
            if (contents.split(from).length !== 2) throw new Error(`${mutant?.key ?? ''}: ${file} does not have ${from} once`);
            contents = contents.replace(from, () => to);
          }
          return { contents, loader: 'ts' };
        });
    },
  };
  await build({
    entryPoints: [path.join(ROOT, 'e2e/runs/engine.ts')],
    ...{ outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error', absWorkingDir: ROOT },
    external: ['pg-native'],
    alias: {
      'server-only': path.join(ROOT, 'node_modules/server-only/empty.js'),
      '@/lib/shape/catalog.gen': path.join(ROOT, 'e2e/runs/shapes.ts'),
    },
    plugins: [breaking],
  });
  // Of the bundle that was in this file before.
  await rm(`${outfile}.compiled`, { force: true });
  return outfile;
}
