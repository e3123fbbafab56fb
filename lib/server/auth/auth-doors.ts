/** Which requests next-auth is handed: the rest it answers in ways of its own, from a page that is not ours to a 500. */
import { Problem } from '@/lib/shared/problems';
import { BadRequest } from '../input';

const DOORS: Record<string, readonly string[]> = {
  csrf: ['GET'],
  session: ['GET'],
  providers: ['GET'],
  signin: ['GET'],
  error: ['GET'],
  signout: ['GET', 'POST'],
  'callback/credentials': ['POST'],
};
const ERROR_CODE = /^[A-Za-z_]{1,64}$/;

/** Throws Problem `not_found` for an address that is none of these, BadRequest for another method or an error that nothing here is called. */
export function requireDoor(method: string, path: readonly string[], search: URLSearchParams): void {
  const door = path.join('/');
  const methods = Object.hasOwn(DOORS, door) ? DOORS[door] : undefined;
  if (methods === undefined) throw new Problem('not_found', 'There is no such address; signing in begins at /login');
  if (!methods.includes(method === 'HEAD' ? 'GET' : method))
    throw new BadRequest(405, `Send ${methods.join(' or ')}`, { Allow: methods.join(', ') });
  if (search.getAll('error').some((code) => !ERROR_CODE.test(code))) throw new BadRequest(400, 'error is not one that signing in answers');
}

/** The form as it was sent; throws BadRequest when it cannot be read as one. */
export function requireForm(contentType: string | null, body: string): void {
  if (!/application\/json/i.test(contentType ?? '')) return;
  try {
    const form: unknown = JSON.parse(body);
    if (typeof form === 'object' && form !== null && Object.values(form).every((value) => typeof value === 'string')) return;
  } catch {
    // Said below.
  }
  throw new BadRequest(400, 'The body is not a form: send its fields as text');
}
