import 'server-only';
import { unstable_rethrow } from 'next/navigation';
import type { NextRequest } from 'next/server';
import { stopwatch } from '@/lib/shared/async/stopwatch';
import { isCardView, type CardView } from '@/lib/shared/embedding/views';
import { DEFAULT_TIME_ZONE } from '@/lib/shared/preferences';
import { Problem } from '@/lib/shared/problems';
import { bearerToken } from '../auth/session';
import { publicOrigin } from '../auth/origin';
import { getConsole, type Console } from '../console';
import { askerOfRoute, authorise, type Context } from '../context';
import { declare } from '../entry';
import { invalid, parseInput, queryOf } from '../input';
import { chooseLanguage } from '../language';
import { failureResponse, newReference, PRIVATE } from '../problem-response';
import type { RouteHandler } from '../route';
import { cardParameters, readCardToken, TOKEN_CHARACTERS_MAX, type CardGrant, type CardParameters } from './token';

/** What a card is asked for: which one, of what, and which outboxes may be in it; all where that is null. */
export interface CardRequest extends CardParameters {
  view: CardView;
  outboxes: readonly string[] | null;
}

type EmbeddedRoute = { id: string; embedded: true; run: (context: Context, request: CardRequest) => Promise<unknown> };

/** A frame asks every few seconds: whom it shows what is logged once in this time. */
const TOLD_AGAIN_MS = 300_000;
const TOLD_MAX = 50_000;
const told = new Map<string, number>();

function tell({ log }: Console, what: object): void {
  const name = JSON.stringify(what);
  if (Date.now() - (told.get(name) ?? -Infinity) < TOLD_AGAIN_MS) return;
  told.delete(name);
  told.set(name, Date.now());
  for (const [oldest] of told) if (told.size > TOLD_MAX) told.delete(oldest);
  log.info(what, 'a card is shown');
}

/** By the token of another back end. An outbox that there is not is as foreign to it as one of others. */
async function byToken(console: Console, view: CardView, request: NextRequest, token: string): Promise<CardGrant> {
  const query = Object.keys(queryOf(new URL(request.url)));
  if (query.length > 0)
    throw invalid('A token says all there is to say', Object.fromEntries(query.map((name) => [name, 'write it as a claim of the token'])));
  const grant = await readCardToken(token, { view, keys: console.config.embedding?.keys ?? [], origin: publicOrigin() });
  const { outbox } = grant.parameters;
  // The configuration names no outbox that there is not.
  if (outbox !== undefined && !(grant.key.outboxes ?? console.directory.ids).includes(outbox))
    throw new Problem('not_allowed', 'The key of this token has no such outbox: name another, or add it under embedding.keys');
  return grant;
}

async function asked(entry: string, view: CardView, request: NextRequest, requestId: string): Promise<[Context, CardRequest]> {
  const elapsedMs = stopwatch();
  const console = await getConsole();
  const { embedding } = console.config;
  if (embedding === null) throw new Problem('not_found', 'There are no cards here: the configuration has no embedding');
  const bearer = bearerToken(request.headers.get('authorization'), TOKEN_CHARACTERS_MAX);
  if (bearer.kind === 'none' && embedding.session) {
    // A browser says so itself of the frame's own request; no page can, and none could read the answer.
    if ((request.headers.get('sec-fetch-site') ?? 'same-origin') !== 'same-origin')
      throw new Problem('forbidden', 'The request does not come from a card');
    const { actor, ...context } = authorise(await askerOfRoute(request, 'outbox:read'), 'outbox:read', false);
    const card = { ...parseInput(cardParameters(view), queryOf(new URL(request.url))), view, outboxes: null };
    return [{ ...context, actor: { ...actor, role: 'viewer' } }, card];
  }
  if (bearer.kind !== 'token') throw new Problem('token_invalid', 'Send a JWT of this card as Authorization: Bearer');
  const { key, sub, parameters } = await byToken(console, view, request, bearer.token);
  tell(console, { entry, key: key.id, sub, view });
  const locale = chooseLanguage(undefined, request.headers.get('accept-language'));
  const actor = { id: `embedding:${key.id}`, name: sub ?? key.id, role: 'viewer' as const, kind: 'embedding' as const };
  const context = { console, actor, requestId, elapsedMs, locale, timeZone: DEFAULT_TIME_ZONE };
  return [context, { ...parameters, view, outboxes: key.outboxes }];
}

/** The only way to define a route for cards: open to who has a token for this very card, and to sessions where the configuration says so. */
export function defineEmbeddedRoute({ id, embedded, run }: EmbeddedRoute): RouteHandler {
  const handler = async (request: NextRequest, { params }: { params: Promise<unknown> }): Promise<Response> => {
    const requestId = newReference();
    try {
      const { view } = (await params) as { view?: unknown };
      if (!isCardView(view)) throw new Problem('not_found', 'There is no such card');
      const [context, card] = await asked(id, view, request, requestId);
      return Response.json(await run(context, card), { headers: PRIVATE });
    } catch (error) {
      unstable_rethrow(error);
      return failureResponse(error, id, requestId);
    }
  };
  return declare(handler, { id, embedded });
}
