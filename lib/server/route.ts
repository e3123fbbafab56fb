import 'server-only';
import { unstable_rethrow } from 'next/navigation';
import type { NextRequest } from 'next/server';
import { z } from 'zod';
import type { Config } from '@/lib/config/config';
import type { Permission } from '@/lib/shared/permissions';
import { getConsole } from './console';
import { askerOfRoute, authorise, type Asker, type Context } from './context';
import { declare, type EntryDeclaration } from './entry';
import { parseInput, queryOf, readJson } from './input';
import { failureResponse, newReference, PRIVATE } from './problem-response';
import { recordRefusal, type Attempted } from './auth/refusals';

export interface RouteInput<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  request: NextRequest;
}

interface RouteShape<C, P, Q, B> {
  id: string;
  params?: z.ZodType<P>;
  /** Without one every parameter is refused; null: what is there is not read here. */
  query?: z.ZodType<Q> | null;
  body?: z.ZodType<B>;
  /** Returns a value to send as JSON, or a whole Response. */
  run: (context: C, input: RouteInput<P, Q, B>) => Promise<unknown>;
}

interface GuardedRoute<P, Q, B> extends RouteShape<Context, P, Q, B> {
  permission: Permission;
  public?: undefined;
  openWhen?: undefined;
  /** For a route that changes something, which the console finishes before it ends: what a refused attempt was about, for the audit. */
  attempted?: (input: Omit<RouteInput<P, Q, B>, 'request'>) => Attempted;
}

/** A route for signed-in people and tokens that the configuration can make public, so it must not depend on who asks. */
interface OpenableRoute<P, Q, B> extends RouteShape<Pick<Context, 'console' | 'requestId'>, P, Q, B> {
  permission: Permission;
  public?: undefined;
  attempted?: undefined;
  openWhen: (config: Config) => boolean;
}

interface PublicRoute<P, Q, B> extends RouteShape<Pick<Context, 'requestId'>, P, Q, B> {
  permission?: undefined;
  public: true;
  attempted?: undefined;
}

type RouteContext = { params: Promise<unknown> };
export type RouteHandler = ((request: NextRequest, context: RouteContext) => Promise<Response>) & { entry: EntryDeclaration };

const READS = new Set(['GET', 'HEAD']);
const NOTHING = z.strictObject({});

function answer(value: unknown): Response {
  if (value instanceof Response) {
    for (const [name, text] of Object.entries(PRIVATE)) if (!value.headers.has(name)) value.headers.set(name, text);
    return value;
  }
  return Response.json(value, { headers: PRIVATE });
}

async function inputOf<P, Q, B>(
  { params: path, query, body }: RouteShape<never, P, Q, B>,
  request: NextRequest,
  params: unknown,
): Promise<RouteInput<P, Q, B>> {
  return {
    params: path === undefined ? (undefined as P) : parseInput(path, params),
    query: (query === null ? undefined : parseInput<unknown>(query ?? NOTHING, queryOf(new URL(request.url)))) as Q,
    body: body === undefined ? (undefined as B) : parseInput(body, await readJson(request)),
    request,
  };
}

/** The only way to define a route: checks who asks, the permission, the origin of a cookie's change and the input, and only then runs. */
export function defineRoute<P = undefined, Q = undefined, B = undefined>(
  definition: GuardedRoute<P, Q, B> | PublicRoute<P, Q, B>,
): RouteHandler;
export function defineRoute<P = undefined, Q = undefined, B = undefined>(definition: OpenableRoute<P, Q, B>): RouteHandler;
export function defineRoute<P, Q, B>(definition: GuardedRoute<P, Q, B> | OpenableRoute<P, Q, B> | PublicRoute<P, Q, B>): RouteHandler {
  const { id } = definition;

  const handler = async (request: NextRequest, context: RouteContext): Promise<Response> => {
    const requestId = newReference();
    const input = async () => inputOf(definition, request, await context.params);
    let asker: Asker | null = null;
    let understood: RouteInput<P, Q, B> | null = null;
    try {
      if (definition.public === true) return answer(await definition.run({ requestId }, await input()));
      if (definition.openWhen !== undefined) {
        const console = await getConsole();
        if (definition.openWhen(console.config)) return answer(await definition.run({ console, requestId }, await input()));
      }
      asker = await askerOfRoute(request, definition.permission);
      const granted = authorise(asker, definition.permission, !READS.has(request.method));
      const read = (understood = await input());
      const work = () => definition.run(granted, read);
      return answer(await (definition.attempted === undefined ? work() : granted.console.underWay.run(work)));
    } catch (error) {
      unstable_rethrow(error);
      const { attempted } = definition;
      if (attempted !== undefined) await recordRefusal(asker, id, error, async () => attempted(understood ?? (await input())));
      return failureResponse(error, id, asker?.requestId ?? requestId);
    }
  };
  return declare(handler, definition.public === true ? { id, public: true } : { id, permission: definition.permission });
}
