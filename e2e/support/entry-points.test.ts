import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PERMISSIONS, ROLES } from '@/lib/shared/permissions';
import { entryPointsOf, readEntryPoints } from './entry-points';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PUBLIC = ['app/(site)/login/', 'app/(site)/[...unknown]/', 'app/(cards)/', 'app/api/auth/', 'app/api/health/'];
const { entries, problems } = readEntryPoints(ROOT);

/** The routes by which scripts do what a screen does by an action. */
const ROUTES_OF: Record<string, readonly string[]> = {
  'fleet.snapshot': ['api.fleet'],
  'find.snapshot': ['api.find'],
  'outbox.snapshot': ['api.summary', 'api.series', 'api.marks', 'api.doctor'],
  'outbox.type-trends': ['api.series'],
  'outbox.mark': ['api.marks'],
  'outbox.unmark': ['api.mark'],
  'events.snapshot': ['api.events'],
  'event.snapshot': ['api.event'],
  'dead-letters.snapshot': ['api.groups', 'api.events'],
  'causes.snapshot': ['api.groups', 'api.event', 'api.runs'],
  'causes.note': ['api.causes.note'],
  'intervention.carry-out': ['api.intervene'],
  'intervention.check': ['api.intervention', 'api.intervention.by-key'],
  'intervention.follow': ['api.intervention.fates'],
  'plan.make': ['api.plan'],
  'plan.snapshot': ['api.plan-by-id', 'api.event'],
  'plans.snapshot': ['api.plans'],
  'approvals.snapshot': ['api.approvals'],
  'plan.approve': ['api.plan-approve'],
  'plan.refuse': ['api.plan-refuse'],
  'run.snapshot': ['api.run', 'api.runs'],
  'run.start': ['api.plan.run'],
  'run.pause': ['api.run.pause'],
  'run.resume': ['api.run.resume'],
  'run.cancel': ['api.run.cancel'],
  'run.pace': ['api.run.pace'],
  'proof.run': ['api.proof'],
  'proof.switch': ['api.changes'],
  'audit.snapshot': ['api.audit'],
  'doctor.snapshot': ['api.doctor'],
  'doctor.examine': ['api.doctor.examinations'],
  'doctor.silence': ['api.doctor.silences'],
  'doctor.lift': ['api.doctor.silences'],
};
/** What screens alone do, in the words of docs/http.md. */
const OF_SCREENS: Record<string, string> = {
  'intervention.preview': 'what an operation would do is shown beforehand',
  'detect.examine': 'outboxes are found in a database',
};

describe('every entry point of the source', () => {
  it('is made by a wrapper and declares who may use it', () => {
    expect(problems).toEqual([]);
  });

  it('is public only where the contract says so', () => {
    const open = entries.filter(({ access }) => access === 'public').map(({ file }) => file);
    expect(open.filter((file) => !PUBLIC.some((prefix) => file.startsWith(prefix)))).toEqual([]);
  });

  it('is open to tokens of cards only where their data is', () => {
    const open = entries.filter(({ access }) => access === 'embedded').map(({ file, name }) => `${name} ${file}`);
    expect(open).toEqual(['GET app/api/embed/[view]/route.ts']);
  });

  it('or an answer of lib/server depends on each permission that a role may have', () => {
    const folder = path.join(ROOT, 'lib/server');
    const files = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.ts$/.test(file));
    const answers = files.map((file) => fs.readFileSync(path.join(folder, file), 'utf8')).join('\n');
    const declared = new Set(entries.map(({ access }) => access));
    const asked = (permission: string): boolean => declared.has(permission) || answers.includes(`role, '${permission}')`);
    expect(PERMISSIONS.filter((permission) => !asked(permission))).toEqual([]);
  });
});

describe('docs/http.md', () => {
  const docs = fs.readFileSync(path.join(ROOT, 'docs/http.md'), 'utf8');

  it('has every route there is, and no other', () => {
    const promised = [...docs.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/api\/[^`\s?]*)/g)].map(
      ([, method, route = '']) => `${method} ${route.replace(/\{[^}]*\}/g, '{}')}`,
    );
    const routes = entries.filter(({ kind, id }) => kind === 'route' && id !== 'auth' && id !== 'api.unknown');
    const there = routes.map(({ name, file }) => `${name} ${file.slice('app'.length, -'/route.ts'.length).replace(/\[[^\]]*\]/g, '{}')}`);
    expect([...new Set(promised)].sort()).toEqual(there.sort());
  });

  it('leads scripts to what every action of a screen does, or says that only screens do it', () => {
    const ids = new Set(entries.map(({ id }) => id));
    const actions = entries.filter(({ kind }) => kind === 'action').map(({ id }) => id);
    expect(actions.filter((id) => !(id in ROUTES_OF) && !(id in OF_SCREENS))).toEqual([]);
    expect([...Object.keys(ROUTES_OF), ...Object.keys(OF_SCREENS)].filter((id) => !actions.includes(id))).toEqual([]);
    expect(Object.values(ROUTES_OF).flatMap((routes) => routes.filter((id) => !ids.has(id)))).toEqual([]);
    expect(Object.values(OF_SCREENS).filter((words) => !docs.replace(/\s+/g, ' ').includes(words))).toEqual([]);
  });

  it('stands beside a README that tells each role', () => {
    const readme = fs.readFileSync(path.join(ROOT, 'README.md'), 'utf8').replace(/\s+/g, ' ');
    expect(ROLES.filter((role) => !new RegExp(`_${role}_ [a-z]`).test(readme))).toEqual([]);
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
    ['app/api/a/route.ts', `export const GET = defineRoute({ id: 'a', embedded: true, run });`],
    ['app/api/a/route.ts', `export const GET = defineEmbeddedRoute({ id: 'a', run });`],
    ['app/api/a/route.ts', `export const GET = defineEmbeddedRoute({ id: 'a', permission: 'outbox:read', run });`],
    ['app/api/a/route.ts', `export const GET = defineEmbeddedRoute({ id: 'a', embedded: true, public: true, run });`],
    ['app/a/page.tsx', `export default defineEmbeddedRoute({ id: 'a', embedded: true, render });`],
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
    ['app/(site)/login/page.tsx', `export default definePublicPage({ id: 'login', public: true, render });`, 'public'],
    ['app/api/a/route.ts', `export const POST = defineRoute({ id: 'a', permission: 'event:operate', run });`, 'event:operate'],
    ['app/api/a/route.ts', `export const GET = defineEmbeddedRoute({ id: 'a', embedded: true, run });`, 'embedded'],
    ['app/a/actions.ts', `'use server'; export const act = defineAction({ id: 'a', permission: 'event:operate', run });`, 'event:operate'],
  ])('reads the declaration in %s: %s', (file, text, access) => {
    expect(entryPointsOf(file, text)).toMatchObject({ problems: [], entries: [{ access }] });
  });
});
