import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { entryPointsOf, readEntryPoints } from './entry-points';

const PUBLIC = ['app/login/', 'app/api/auth/', 'app/api/health/'];

describe('every entry point of the source', () => {
  const { entries, problems } = readEntryPoints(path.resolve(import.meta.dirname, '../..'));

  it('is made by a wrapper and declares who may use it', () => {
    expect(problems).toEqual([]);
  });

  it('is public only where the contract says so', () => {
    const open = entries.filter(({ access }) => access === 'public').map(({ file }) => file);
    expect(open.filter((file) => !PUBLIC.some((prefix) => file.startsWith(prefix)))).toEqual([]);
  });
});

describe('the check itself', () => {
  it.each([
    ['app/a/page.tsx', `export default function Page() { return null; }`],
    ['app/a/page.tsx', `import { Page } from './other'; export default Page;`],
    ['app/a/page.tsx', `const page = wrap({ id: 'a', permission: 'outbox:read' }); export default page;`],
    ['app/a/page.tsx', `export default definePage({ id: 'a', render });`],
    ['app/a/page.tsx', `export default definePage({ id: 'a', permission: 'everything', render });`],
    ['app/api/a/route.ts', `export async function GET() { return new Response(); }`],
    ['app/api/a/route.ts', `export { GET } from './other';`],
    ['app/api/a/route.ts', `export const { GET } = handlers;`],
    ['app/a/actions.ts', `'use server'; export async function act() {}`],
    ['lib/server/a.ts', `'use server'; export const act = async () => {};`],
    ['components/a.tsx', `export function A() { async function act() { 'use server'; } return null; }`],
  ])('finds the one that declares nothing in %s: %s', (file, text) => {
    expect(entryPointsOf(file, text).problems).toHaveLength(1);
  });

  it.each([
    [
      'app/a/page.tsx',
      `export const metadata = {}; export default definePage({ id: 'a', permission: 'outbox:read', render });`,
      'outbox:read',
    ],
    ['app/a/page.tsx', `const page = definePage({ id: 'a', permission: 'audit:read', render }); export default page;`, 'audit:read'],
    ['app/login/page.tsx', `export default definePublicPage({ id: 'login', public: true, render });`, 'public'],
    ['app/api/a/route.ts', `export const POST = defineRoute({ id: 'a', permission: 'event:operate', run });`, 'event:operate'],
    ['app/a/actions.ts', `'use server'; export const act = defineAction({ id: 'a', permission: 'event:operate', run });`, 'event:operate'],
  ])('reads the declaration in %s: %s', (file, text, access) => {
    expect(entryPointsOf(file, text)).toMatchObject({ problems: [], entries: [{ access }] });
  });
});
