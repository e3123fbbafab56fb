/**
 * Writes the generated files (registries, languages, docs/shapes.md, docs/prometheus.md); with `--check` only says which ones are out of
 * date and exits 1.
 */
import fs from 'node:fs';
import path from 'node:path';
import { renderAll } from './registries';

const root = path.resolve(import.meta.dirname, '..');
const check = process.argv.includes('--check');

const stale: string[] = [];
for (const [file, text] of await renderAll(root)) {
  const target = path.join(root, file);
  const current = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : null;
  if (current === text) continue;
  stale.push(file);
  if (check) continue;
  // Written beside and renamed: a program reading at this moment sees the old file or the new one.
  fs.mkdirSync(path.dirname(target), { recursive: true });
  const beside = `${target}.${String(process.pid)}`;
  fs.writeFileSync(beside, text);
  fs.renameSync(beside, target);
}

for (const file of stale) console.log(`${check ? 'out of date' : 'written'}: ${file}`);
if (check && stale.length > 0) {
  console.error('Run npm run gen and commit what it writes.');
  process.exitCode = 1;
}
