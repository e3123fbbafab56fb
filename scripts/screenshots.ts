/**
 * `npm run screenshots`: the pictures of docs/images, taken from a demo that is running (its demo.json, or the one that
 * E2E_WORLD names). `npm run screenshots -- all` also takes every screen in both themes and both widths into
 * test-results/screens, for looking at.
 */
import fs from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, request } from '@playwright/test';
import type { Role } from '@/lib/shared/permissions';
import { LOCALE_COOKIE } from '@/lib/shared/preferences';
import { ensureChromium } from './testing/chromium';
import { sessionOf } from './testing/session';
import { readWorld, type World } from './testing/world';

const ROOT = path.resolve(import.meta.dirname, '..');
process.env.E2E_WORLD ??= path.join(ROOT, '.outbox-console/demo.json');

interface Picture {
  file: string;
  path: string;
  role?: Role;
  theme?: 'light' | 'dark';
  width?: number;
  height?: number;
  language?: 'en' | 'ko';
}

const WIDE = 1440;
const PHONE = 390;

/** What README and docs show. */
const FOR_DOCS: readonly Picture[] = [
  { file: 'docs/images/fleet.png', path: '/' },
  { file: 'docs/images/outbox.png', path: '/outboxes/escrow?window=1h', theme: 'dark' },
  { file: 'docs/images/event.png', path: '/outboxes/escrow/events/{dead}', height: 1000 },
];

const SCREENS = {
  login: '/login',
  fleet: '/',
  outbox: '/outboxes/escrow',
  'outbox-7d': '/outboxes/orders-kafka?window=7d',
  events: '/outboxes/escrow/events?state=dead',
  'events-empty': '/outboxes/escrow/events?q=nothing-has-this-id',
  event: '/outboxes/escrow/events/{dead}',
  'outbox-dead-letters': '/outboxes/escrow/dead-letters',
  'dead-letters': '/dead-letters',
  audit: '/audit',
};

function everyScreen(): Picture[] {
  return Object.entries(SCREENS).flatMap(([name, address]) =>
    (['light', 'dark'] as const).flatMap((theme) =>
      ([WIDE, PHONE] as const).map((width) => ({
        file: `test-results/screens/${name}-${theme}-${String(width)}.png`,
        path: address,
        theme,
        width,
        height: width === PHONE ? 844 : 900,
      })),
    ),
  );
}

const world = readWorld();
const pictures = process.argv.includes('all') ? everyScreen() : FOR_DOCS;
const browser = await chromium.launch({
  executablePath: ensureChromium(),
  args: process.getuid?.() === 0 ? ['--no-sandbox', '--disable-background-networking'] : ['--disable-background-networking'],
});
try {
  const dead = await aDeadEvent(world);
  for (const picture of pictures) await take(browser, { ...picture, path: picture.path.replace('{dead}', dead) });
} finally {
  await browser.close();
}

async function take(from: Browser, picture: Picture): Promise<void> {
  const { file, role = 'operator', theme = 'light', width = WIDE, height = 900, language = 'en' } = picture;
  const context = await from.newContext({
    baseURL: world.url,
    viewport: { width, height },
    colorScheme: theme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    deviceScaleFactor: 1,
  });
  const { cookies } = await sessionOf(request, world, role);
  if (picture.path !== '/login') await context.addCookies(cookies);
  await context.addCookies([{ name: LOCALE_COOKIE, value: language, url: world.url }]);
  const page = await context.newPage();
  await page.goto(picture.path, { waitUntil: 'networkidle' });
  const target = path.join(ROOT, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  await page.screenshot({ path: target, fullPage: width === PHONE });
  await context.close();
  console.log(file);
}

async function aDeadEvent({ url, token }: World): Promise<string> {
  const context = await request.newContext({ baseURL: url, extraHTTPHeaders: { authorization: `Bearer ${token}` } });
  const { events } = (await (await context.get('/api/v1/outboxes/escrow/events?state=dead&limit=1')).json()) as {
    events: { id: string }[];
  };
  await context.dispose();
  const [event] = events;
  if (!event) throw new Error('The escrow outbox has no dead event to show');
  return event.id;
}
