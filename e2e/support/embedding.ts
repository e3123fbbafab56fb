/** A console that lets pages of two origins show cards, and those pages. */
import { randomBytes } from 'node:crypto';
import { expect, type Frame, type Page } from '@playwright/test';
import type { CardView } from '@/lib/shared/embedding/views';
import type { World } from '@/scripts/testing/world';
import { startHost, type Answer, type Host, type Signing } from './host';
import { freePort } from './programs';
import { secondConsole, type SecondConsole } from './second-console';

export interface Embedding {
  console: SecondConsole;
  /** Opens every outbox. */
  signing: Signing;
  /** Opens `escrow` alone. */
  limited: Signing;
  /** On another site than the console, and under `origins`. */
  listed: Host;
  /** The same page on the console's own site, under `origins` too. */
  sameSite: string;
  /** Under no `origins`. */
  unlisted: Host;
  /** Under `origins`, for a host that a story starts itself on 127.0.0.1. */
  freePort: number;
  /** What both answer at `/`. */
  page: Answer;
  /** What they answer at `/token`, by its query. */
  token: (query: URLSearchParams) => Promise<string>;
  stop(): Promise<void>;
}

/** Starts them; `page` and `token` are each story's to set. */
export async function startEmbedding(world: World): Promise<Embedding> {
  const [secret, other] = [1, 2].map(() => randomBytes(32).toString('base64url'));
  const stage: Partial<Embedding> = { page: { body: '' }, token: () => Promise.resolve('') };
  const answer = (url: URL) => {
    if (url.pathname === '/') return stage.page ?? null;
    if (url.pathname === '/token') return stage.token?.(url.searchParams) ?? null;
    return url.pathname === '/other' ? '<!doctype html><title>Of a host</title>' : null;
  };
  const [listed, unlisted] = await Promise.all([startHost(answer), startHost(answer)]);
  const port = await freePort();
  const sameSite = listed.url.replace('127.0.0.1', 'localhost');
  const console = await secondConsole(world, (config) => {
    config.embedding = {
      origins: [listed.url, sameSite, `http://127.0.0.1:${String(port)}`],
      session: true,
      keys: [
        { id: 'orders', secret },
        { id: 'limited', secret: other, outboxes: ['escrow'] },
      ],
    };
  });
  await console.start();
  const audience = console.world.url;
  return Object.assign(stage, {
    console,
    listed,
    unlisted,
    sameSite,
    freePort: port,
    signing: { secret, kid: 'orders', audience },
    limited: { secret: other, kid: 'limited', audience },
    stop: async () => {
      await Promise.all([console.stop(), listed.close(), unlisted.close()]);
    },
  }) as Embedding;
}

/** All claims of a query, as a host signs them. */
export const claimsOf = (query: URLSearchParams): Record<string, string> => Object.fromEntries(query);

/** A page around `body`, with the script. */
export function pageOf(home: string, body: string, headers: Record<string, string> = {}): Answer {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>A host</title><link rel="icon" href="data:,">`;
  return {
    headers,
    body: `<!doctype html><html lang="en">${head}<script src="${home}/embed.v1.js" defer></script><main>${body}</main></html>`,
  };
}

export const cardTag = (home: string, view: CardView, more = ''): string =>
  `<outbox-card console="${home}" view="${view}" token-url="/token" ${more}></outbox-card>`;

/** All four, of this key. */
export const fourCards = (home: string, key: string, more = ''): string =>
  [
    cardTag(home, 'fate', `key="${key}" ${more}`),
    cardTag(home, 'outbox', `outbox="escrow" window="15m" ${more}`),
    cardTag(home, 'dead-letters', more),
    cardTag(home, 'fleet', more),
  ].join('\n');

/** The frames of cards on a page, in no order. */
export const framesOf = (page: Page): Frame[] => page.frames().filter((frame) => frame.url().includes('/embed/'));

/** The frame of the card of a view; waits for it. */
export async function frameOf(page: Page, view: CardView): Promise<Frame> {
  const found = (): Frame | undefined => framesOf(page).find((frame) => frame.url().includes(`/embed/${view}?`));
  await expect.poll(() => found() !== undefined).toBe(true);
  const frame = found();
  if (frame === undefined) throw new Error(`no frame shows ${view}`);
  return frame;
}

export const stateOf = (page: Page, view: CardView) => page.locator(`outbox-card[view="${view}"]`);
