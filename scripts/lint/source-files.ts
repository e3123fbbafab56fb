/** The source files that the tests of the house read. */
import fs from 'node:fs';
import path from 'node:path';
import { isTest } from './layers.mjs';

const TOP_FOLDERS = ['app', 'components', 'lib', 'fixtures', 'demo', 'bench', 'scripts', 'e2e'];

/** Paths from the repository's root, with forward slashes. */
export function sourceFiles(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) walk(file);
      else if (/\.(tsx?|mjs)$/.test(entry.name)) found.push(file);
    }
  };
  for (const folder of TOP_FOLDERS) if (fs.existsSync(path.join(root, folder))) walk(folder);
  for (const name of fs.readdirSync(root)) if (/\.(tsx?|m?js)$/.test(name) && name !== 'next-env.d.ts') found.push(name);
  return found;
}

/** True for what is shipped: no test, fixture or tool. */
export const isProduct = (file: string): boolean => /^(app|components|lib)\//.test(file) && !isTest(file);
