import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const SHEETS = 'node_modules/@mantine/core/styles';
const sourceFiles = (folder: string): string[] =>
  fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => (/\.tsx$/.test(name) ? [path.join(folder, name)] : []));

it('every Mantine component in use has its style sheet', () => {
  const imported = fs.readFileSync('components/styles.ts', 'utf8');
  const used = [...sourceFiles('components'), ...sourceFiles('app')].flatMap((file) =>
    [...fs.readFileSync(file, 'utf8').matchAll(/import \{([^}]+)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim().split(' as ')[0] ?? ''),
    ),
  );
  const missing = [...new Set(used)].filter((name) => fs.existsSync(`${SHEETS}/${name}.css`) && !imported.includes(`/${name}.css'`));
  expect(missing).toEqual([]);
});
