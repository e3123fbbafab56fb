import type { APIRequest } from '@playwright/test';
import type { World } from '@/scripts/testing/world';
import type { Database } from './database';
import { insertEscrow, planEvents, startPlan } from './rows';

/** Every screen of the console. A page of the build that is not listed here fails e2e/entry-points.spec.ts. */
export interface Screen {
  name: string;
  /** The page's file pattern below app, as Next names it. */
  route: string;
  /** The address to open; `{event}`, `{plan}` and `{run}` are of its own. */
  path: string;
  /** Screens with charts may load 300 kB of script, the others 220. */
  charts: boolean;
  /** No sign-in needed. */
  open?: boolean;
  /** Who may see it, where that is not everybody: who opens it is an operator otherwise. */
  role?: 'admin';
  /** Shows what it read when it was opened; the others read again every interval. */
  readsOnce?: true;
}

export const SCREENS: readonly Screen[] = [
  { name: 'sign-in', route: '/login', path: '/login', charts: false, open: true, readsOnce: true },
  { name: 'fleet', route: '/', path: '/', charts: false },
  { name: 'outbox', route: '/outboxes/[outbox]', path: '/outboxes/escrow', charts: true },
  { name: 'outbox whose table tells little', route: '/outboxes/[outbox]', path: '/outboxes/orders-redis', charts: true },
  { name: 'events', route: '/outboxes/[outbox]/events', path: '/outboxes/escrow/events?state=dead', charts: false },
  { name: 'event', route: '/outboxes/[outbox]/events/[event]', path: '/outboxes/escrow/events/{event}', charts: false },
  { name: 'dead letters of an outbox', route: '/outboxes/[outbox]/dead-letters', path: '/outboxes/escrow/dead-letters', charts: false },
  { name: 'dead letters', route: '/dead-letters', path: '/dead-letters', charts: false },
  { name: 'fate of a key', route: '/find', path: '/find?key=order-8001', charts: false },
  { name: 'plans', route: '/plans', path: '/plans', charts: false },
  { name: 'plan', route: '/plans/[plan]', path: '/plans/{plan}', charts: false },
  { name: 'run', route: '/runs/[run]', path: '/runs/{run}', charts: false },
  { name: 'approvals', route: '/approvals', path: '/approvals', charts: false, role: 'admin' },
  { name: 'audit', route: '/audit', path: '/audit', charts: false },
  { name: 'detection', route: '/detect', path: '/detect', charts: false, role: 'admin', readsOnce: true },
  {
    name: 'settings of an outbox',
    route: '/outboxes/[outbox]/settings',
    path: '/outboxes/escrow/settings',
    charts: false,
    readsOnce: true,
  },
  { name: 'doctor', route: '/doctor', path: '/doctor', charts: false },
  { name: 'doctor of an outbox', route: '/doctor', path: '/doctor?outbox=escrow', charts: false },
];

/** The address of a screen, with an event, a plan or a run made for it. */
export async function addressOf(
  { path }: Pick<Screen, 'path'>,
  { database, request, world }: { database: (outbox: string) => Database; request: APIRequest; world: World },
): Promise<string> {
  const [place, kind] = /\{(\w+)\}/.exec(path) ?? [];
  if (place === undefined) return path;
  const { id } = await insertEscrow(database('escrow'));
  if (kind === 'event') return path.replace(place, id);
  const api = await request.newContext({ baseURL: world.url, extraHTTPHeaders: { authorization: `Bearer ${world.token}` } });
  try {
    const plan = await planEvents(api, 'escrow', { ids: [id] });
    return path.replace(place, kind === 'plan' ? plan : await startPlan(api, plan));
  } finally {
    await api.dispose();
  }
}
