import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { filledDocument } from './docs';

it('docs/performance.md says what the results say', async () => {
  const root = path.resolve(import.meta.dirname, '..');
  expect(await readFile(path.join(root, 'docs/performance.md'), 'utf8')).toBe(await filledDocument(root));
});
