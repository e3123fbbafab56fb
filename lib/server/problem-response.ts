import 'server-only';
import { randomBytes } from 'node:crypto';
import { DatabaseFailure } from '@/lib/database/failure';
import { databaseProblem } from '@/lib/outbox/directory';
import { Problem, shownCode, type ActionResult } from '@/lib/shared/problems';
import { BadRequest } from './input';
import { failureLine } from './failure-log';
import { log } from './log';

/** Short enough to read out on the phone, long enough to find one line in a day's log. */
export const newReference = (): string => randomBytes(6).toString('hex');

/** Headers of every response for one person. */
export const PRIVATE: Record<string, string> = { 'Cache-Control': 'private, no-store', Vary: 'Cookie, Authorization' };

/** What may be said about an error: a Problem as it is; of anything else a reference, under which the log has the rest. */
export function problemOf(error: unknown, entry: string, reference: string): Problem {
  if (error instanceof Problem) {
    if (error.cause === undefined) return error;
    const { code, cause, detail } = error;
    const line = failureLine(error, '');
    log().warn({ entry, reference, code, ...(line === null ? { err: cause } : { state: line.state }) }, detail);
    if (line !== null) log().debug({ entry, reference, err: cause }, detail);
    return error;
  }
  if (error instanceof DatabaseFailure) {
    log().error({ entry, reference, err: error, cause: error.cause }, 'a database failed in a way nobody expected here');
    const { code, detail, ofStore } = databaseProblem(error, 'of this outbox');
    return new Problem(code, detail, { ofStore, reference, cause: error });
  }
  log().error({ entry, reference, err: error }, 'unexpected failure');
  const detail = 'Something failed inside the console; the log says what under this reference';
  return new Problem('unavailable', detail, { reference, cause: error });
}

export function problemResponse(problem: Problem, status: number = problem.status): Response {
  const headers = new Headers({ ...PRIVATE, 'Content-Type': 'application/problem+json' });
  if (status === 401) headers.set('WWW-Authenticate', 'Bearer');
  if (problem.retryAfterSeconds !== undefined) headers.set('Retry-After', String(Math.ceil(problem.retryAfterSeconds)));
  const { code, detail, fields, because, reference } = problem;
  const body = { type: 'about:blank', title: code.replaceAll('_', ' '), status, code, detail, fields, because, reference };
  return new Response(JSON.stringify(body), { status, headers });
}

export function failureResponse(error: unknown, entry: string, reference: string): Response {
  if (!(error instanceof BadRequest)) return problemResponse(problemOf(error, entry, reference));
  const response = problemResponse(new Problem('invalid', error.detail), error.status);
  for (const [name, text] of Object.entries(error.headers)) response.headers.set(name, text);
  return response;
}

export function problemResult(problem: Problem): ActionResult<never> {
  const { detail, fields, because, reference } = problem;
  const told = Object.entries({ fields, because, reference }).filter(([, value]) => value !== undefined);
  return { ok: false, problem: { code: shownCode(problem), detail, ...Object.fromEntries(told) } };
}
