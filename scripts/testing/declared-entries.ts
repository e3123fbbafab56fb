import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Permission } from '@/lib/shared/permissions';

/** Ids and permissions of the pages, layouts and actions declared below a folder. */
export function declaredEntries(folder: string): { id: string; permission: Permission }[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.includes('.test.'),
  );
  return files.flatMap((file) =>
    [
      ...readFileSync(path.join(folder, file), 'utf8').matchAll(
        /define(?:Page|Action|Layout)\(\{\s*id: '([^']+)',\s*permission: '([^']+)'/g,
      ),
    ].map(([, id = '', permission]) => ({ id, permission: permission as Permission })),
  );
}
