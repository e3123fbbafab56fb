/** What browsers ask of the console: a page at first, then its one server action every five seconds. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A screen asks this often. */
export const POLL_MS = 5_000;
const OUTBOX = 'bench';
const WINDOWS = ['15m', '1h', '24h', '7d'];

interface Screen {
  path: string;
  action: string;
  input: object;
}

/** Of ten viewers two look at the fleet, four at an outbox, two at its events, one at its dead letters and one at an event. */
function screenOf(viewer: number, event: string): Screen {
  const at = viewer % 10;
  if (at < 2) return { path: '/', action: 'fleetSnapshot', input: {} };
  if (at < 6) {
    const window = WINDOWS[Math.floor(viewer / 10) % WINDOWS.length];
    return {
      path: `/outboxes/${OUTBOX}?window=${String(window)}`,
      action: 'outboxSnapshot',
      input: { outbox: OUTBOX, window, span: { window } },
    };
  }
  if (at < 8) return { path: `/outboxes/${OUTBOX}/events`, action: 'eventsSnapshot', input: { outbox: OUTBOX, query: '' } };
  if (at === 8) return { path: `/outboxes/${OUTBOX}/dead-letters`, action: 'deadLettersSnapshot', input: { outbox: OUTBOX, query: '' } };
  return { path: `/outboxes/${OUTBOX}/events/${event}`, action: 'eventSnapshot', input: { outbox: OUTBOX, event } };
}

/** Ids of the build's server actions by their names. */
export async function actionIds(root: string): Promise<Map<string, string>> {
  const manifest = JSON.parse(await readFile(path.join(root, '.next/server/server-reference-manifest.json'), 'utf8')) as {
    node: Record<string, { exportedName: string }>;
  };
  return new Map(Object.entries(manifest.node).map(([id, { exportedName }]) => [exportedName, id]));
}

export interface Answers {
  asked: number;
  /** Answers that were none: 5xx, or an action that answered a problem; each as text. */
  failed: string[];
  ms: number[];
}

export interface Viewing {
  url: string;
  cookies: string[];
  actions: Map<string, string>;
  event: string;
}

/** Everybody looks for so long, each at a moment of its own; every page was opened once before, so that its code is loaded. */
export async function look({ url, cookies, actions, event }: Viewing, forMs: number): Promise<Answers> {
  const answers: Answers = { asked: 0, failed: [], ms: [] };
  for (let viewer = 0; viewer < 10; viewer += 1)
    await ask(answers, `${url}${screenOf(viewer, event).path}`, { headers: { cookie: cookies[0] ?? '' }, redirect: 'manual' });
  const until = Date.now() + forMs;
  await Promise.all(
    cookies.map(async (cookie, viewer) => {
      const screen = screenOf(viewer, event);
      const headers = { cookie };
      await sleep((viewer * POLL_MS) / cookies.length);
      await ask(answers, `${url}${screen.path}`, { headers, redirect: 'manual' });
      while (Date.now() < until) {
        const next = Date.now() + POLL_MS;
        await ask(answers, `${url}${screen.path}`, {
          method: 'POST',
          headers: {
            ...headers,
            origin: url,
            'content-type': 'text/plain;charset=UTF-8',
            'next-action': actions.get(screen.action) ?? '',
            accept: 'text/x-component',
          },
          body: JSON.stringify([screen.input]),
        });
        await sleep(Math.max(0, next - Date.now()));
      }
    }),
  );
  return answers;
}

async function ask(answers: Answers, address: string, init: RequestInit): Promise<void> {
  const began = performance.now();
  answers.asked += 1;
  try {
    const response = await fetch(address, init);
    const text = await response.text();
    if (response.status !== 200) answers.failed.push(`${String(response.status)} ${text.slice(0, 200)}`);
    else if (init.method === 'POST' && !text.includes('"ok":true')) answers.failed.push(text.slice(0, 300));
  } catch (error) {
    answers.failed.push(error instanceof Error ? `${error.message}: ${String(error.cause)}` : String(error));
  }
  answers.ms.push(performance.now() - began);
}
