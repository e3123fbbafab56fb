import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from './fixtures';
import { readEntryPoints } from './support/entry-points';
import { SCREENS } from './support/screens';
import { readActions } from './support/server-actions';

const ROOT = path.resolve(import.meta.dirname, '..');
const { entries } = readEntryPoints(ROOT);

function manifest<T>(file: string): T {
  return JSON.parse(fs.readFileSync(path.join(ROOT, '.next/server', file), 'utf8')) as T;
}

/** `/(site)/(console)/outboxes/[outbox]/page` → `app/(site)/(console)/outboxes/[outbox]/page.tsx`. */
function sourceOf(entry: string): string {
  const candidates = ['.tsx', '.ts'].map((extension) => `app${entry}${extension}`);
  return candidates.find((candidate) => fs.existsSync(path.join(ROOT, candidate))) ?? `app${entry}`;
}

/** Pages that are no screens: what is shown where there is none, and cards (embedding.spec.ts). */
const NO_SCREENS = ['/[...unknown]', '/embed/[view]'];

/** Entries that Next brings itself; they show the not-found and error pages. */
const OF_NEXT = /^\/(_not-found|_global-error)\/|^\/favicon\.ico\/|^\/(icon|apple-icon|robots|manifest)/;

test('every page and route of the build declares who may use it', () => {
  const built = Object.keys(manifest<Record<string, string>>('app-paths-manifest.json')).filter((entry) => !OF_NEXT.test(entry));
  expect(built.length).toBeGreaterThan(10);
  const declared = new Set(entries.map(({ file }) => file));
  expect(built.map(sourceOf).filter((file) => !declared.has(file))).toEqual([]);
});

test('every page of the build is a screen that the stories open', () => {
  const pages = Object.keys(manifest<Record<string, string>>('app-paths-manifest.json'))
    .filter((entry) => entry.endsWith('/page') && !OF_NEXT.test(entry))
    .map((entry) => entry.replace(/\/page$/, '').replace(/\/\([^)]*\)/g, '') || '/');
  const opened = new Set([...SCREENS.map(({ route }) => route), ...NO_SCREENS]);
  expect(pages.filter((route) => !opened.has(route))).toEqual([]);
});

test('every server action of the build declares who may use it, and refuses who is not signed in', async ({ playwright, world }) => {
  const { node, edge } = readActions();
  expect(edge).toEqual({});
  const declared = entries.filter(({ kind }) => kind === 'action').map(({ file, name }) => `${file}#${name}`);
  expect(
    Object.values(node)
      .map(({ filename, exportedName }) => `${filename}#${exportedName}`)
      .sort(),
  ).toEqual(declared.sort());
  const anonymous = await playwright.request.newContext({ baseURL: world.url, extraHTTPHeaders: { origin: world.url } });
  for (const [id, { filename, exportedName, workers }] of Object.entries(node)) {
    for (const worker of Object.keys(workers)) {
      const address = worker.replace(/^app|\/page$|\/\([^)]*\)/g, '').replace(/\[[^\]]+\]/g, 'x') || '/';
      const headers = { 'next-action': id, 'content-type': 'text/plain;charset=UTF-8', accept: 'text/x-component' };
      const answer = await anonymous.post(address, { headers, data: '[{}]', maxRedirects: 0 });
      expect(await answer.text(), `${filename} ${exportedName} at ${address}`).toContain('"code":"unauthenticated"');
    }
  }
  await anonymous.dispose();
});

test('without a sign-in every page leads to the sign-in and every route answers 401', async ({ playwright, world }) => {
  const anonymous = await playwright.request.newContext({ baseURL: world.url });
  for (const { route, path: address, open } of SCREENS) {
    const answer = await anonymous.get(address.replace(/\{\w+\}/, 'x'), { maxRedirects: 0 });
    if (open) expect(answer.status(), route).toBe(200);
    else expect([answer.status(), answer.headers().location?.split('?')[0]], route).toEqual([307, '/login']);
  }
  for (const { file, name, access } of entries.filter(({ kind }) => kind === 'route')) {
    if (access === 'public') continue;
    const address = file
      .replace(/^app/, '')
      .replace(/\/route\.tsx?$/, '')
      .replace(/\[+[^\]]+\]+/g, 'x');
    const answer = await anonymous.fetch(address, { method: name, data: name === 'GET' ? undefined : {} });
    // No card is called x, whoever asks.
    expect(answer.status(), `${name} ${address}`).toBe(access === 'embedded' ? 404 : 401);
  }
  await anonymous.dispose();
});
