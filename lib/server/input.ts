/** Reads client input strictly: everything wrong is reported by field. */
import { type z } from 'zod';
import { Problem } from '@/lib/shared/problems';
import { tried } from '@/lib/shared/tried';

const LIMIT_BYTES = 1_048_576;

/** A problem with an HTTP status of its own, where that of the code would say less. */
export class BadRequest extends Error {
  constructor(
    readonly status: 400 | 405 | 413 | 415,
    readonly detail: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
    this.name = 'BadRequest';
  }
}

/** Parses with a schema. Throws Problem `invalid` naming every wrong field. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // A map: a field may be called `constructor`.
  const fields = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    for (const path of names) {
      const name = path.map(String).join('.') || 'input';
      if (!fields.has(name)) fields.set(name, issue.code === 'unrecognized_keys' ? 'unknown' : issue.message);
    }
  }
  throw invalid('The request cannot be understood', Object.fromEntries(fields));
}

export function invalid(what: string, fields: Record<string, string>): Problem {
  const said = Object.entries(fields).map(([name, text]) => `${name}: ${text}`);
  return new Problem('invalid', `${what}: ${said.join('; ')}`.slice(0, 500), { fields });
}

export function queryOf(url: URL): Record<string, string | string[]> {
  const valueOf = (name: string): string | string[] => {
    const [first = '', ...others] = url.searchParams.getAll(name);
    return others.length === 0 ? first : [first, ...others];
  };
  return Object.fromEntries([...url.searchParams.keys()].map((name) => [name, valueOf(name)]));
}

async function readCapped(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? '0') > LIMIT_BYTES) throw new BadRequest(413, 'The body is larger than 1 MiB');
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // A throw ends the loop, and that cancels the body.
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > LIMIT_BYTES) throw new BadRequest(413, 'The body is larger than 1 MiB');
    chunks.push(chunk);
  }
  const text = tried(() => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  if (text === undefined) throw new BadRequest(400, 'The body is not UTF-8');
  return text;
}

/** The JSON body of a request. Throws BadRequest for another type, more than 1 MiB, or invalid text. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/(?:[a-z0-9.+-]+\+)?json\s*(;|$)/i.test(type)) throw new BadRequest(415, 'Send the body as application/json');
  const text = await readCapped(request);
  const value = tried(() => JSON.parse(text) as unknown);
  // Reading leaves a field of that name out: a filter with nothing else would be one for everything.
  if (value === undefined || /"__proto__":/.test(JSON.stringify(value)))
    throw new BadRequest(400, 'The body is not JSON, or has a field "__proto__"');
  return value;
}
