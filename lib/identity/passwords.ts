/** Passwords: scrypt, with the cost stored in each hash, so that it can be raised later. */
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { promisify } from 'node:util';
import { Problem } from '@/lib/shared/problems';

/** 32 MiB and about a fifth of a second: one of the settings OWASP lists for scrypt. */
const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const PASSWORD_MIN = 8;
const PASSWORD_MAX_BYTES = 1_024;

/** Each hash takes memory and a thread: a flood of sign-ins queues here instead of using up both. */
const AT_ONCE = 2;
const WAITING_MAX = 16;
let running = 0;
/** Sign-ins from known places go first: a flood from elsewhere does not block them. */
const waiting: Record<'first' | 'others', (() => void)[]> = { first: [], others: [] };

async function inTurn<T>(line: 'first' | 'others', work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting[line].length >= WAITING_MAX) throw new Problem('too_many', 'Too many sign-ins at once', { retryAfterSeconds: 5 });
    await new Promise<void>((resolve) => waiting[line].push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.first.shift() ?? waiting.others.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

const hashed = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

function derive(password: string, salt: Buffer, cost: typeof COST, line: 'first' | 'others'): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem: 256 * 2 ** cost.ln * cost.r };
  return inTurn(line, () => hashed(password.normalize('NFKC'), salt, KEY_BYTES, options));
}

export function passwordProblem(password: string): string | null {
  if ([...password].length < PASSWORD_MIN) return `use at least ${PASSWORD_MIN} characters`;
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES) return `use at most ${PASSWORD_MAX_BYTES} bytes`;
  return null;
}

/** `$scrypt$ln=15,r=8,p=3$<salt>$<key>`, base64. Throws Problem `invalid` for a password that may not be set. */
export async function hashPassword(password: string): Promise<string> {
  const problem = passwordProblem(password);
  if (problem !== null) throw new Problem('invalid', `The password cannot be used: ${problem}`, { fields: { password: problem } });
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, COST, 'others');
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${salt.toString('base64')}$${key.toString('base64')}`;
}

function parse(hash: string) {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/.exec(hash);
  if (match === null) return null;
  const [, ln, r, p, salt = '', key = ''] = match;
  return { cost: { ln: Number(ln), r: Number(r), p: Number(p) }, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
}

/** Checked if there is no account, so that an unknown address takes as long as a wrong password. */
const DUMMY = { cost: COST, salt: Buffer.alloc(SALT_BYTES), key: Buffer.alloc(KEY_BYTES) };

/** Whether the password matches the hash; false for null (no account) after the same time, and above 1 kB without hashing. */
export async function verifyPassword(password: string, hash: string | null, { first = false }: { first?: boolean } = {}): Promise<boolean> {
  if (Buffer.byteLength(password) > PASSWORD_MAX_BYTES) return false;
  const parsed = hash === null ? null : parse(hash);
  const { cost, salt, key } = parsed ?? DUMMY;
  const derived = await derive(password, salt, cost, first ? 'first' : 'others');
  return derived.length === key.length && timingSafeEqual(derived, key) && parsed !== null;
}
