import { scryptSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { normaliseEmail } from './accounts';
import { hashPassword, passwordProblem, verifyPassword } from './passwords';

it('hashes with its cost and a fresh salt, and verifies', async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(first).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
  expect(first).not.toBe(second);
  expect(await verifyPassword('correct horse', first)).toBe(true);
  expect(await verifyPassword('correct horsf', first)).toBe(false);
});

/** As an older version might have written it: cheap. */
function oldHash(password: string): string {
  const salt = Buffer.from('0123456789abcdef');
  const key = scryptSync(password, salt, 32, { N: 1_024, r: 8, p: 1 });
  return `$scrypt$ln=10,r=8,p=1$${salt.toString('base64')}$${key.toString('base64')}`;
}

it('verifies hashes of another cost', async () => {
  expect(await verifyPassword('old password', oldHash('old password'))).toBe(true);
});

it('is never right without an account, and takes as long', async () => {
  const hash = await hashPassword('correct horse');
  // Time of the processor, not of the clock: a busy machine stretches the one and not the other.
  const timed = async (candidate: string | null) => {
    const spent: number[] = [];
    for (let tries = 0; tries < 3; tries += 1) {
      const start = process.cpuUsage();
      expect(await verifyPassword('wrong guess', candidate)).toBe(false);
      spent.push(process.cpuUsage(start).user);
    }
    return Math.min(...spent);
  };
  const known = await timed(hash);
  const unknown = await timed(null);
  expect(unknown / known).toBeGreaterThan(0.5);
  expect(unknown / known).toBeLessThan(2);
});

it('does not hash more than a kilobyte', async () => {
  const hash = oldHash('correct horse');
  const spent: number[] = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const start = process.cpuUsage();
    expect(await verifyPassword('x'.repeat(1_000_000), hash)).toBe(false);
    spent.push(process.cpuUsage(start).user);
  }
  // The least of them: what other files of the process left behind may be cleared away meanwhile.
  expect(Math.min(...spent)).toBeLessThan(50_000);
  await expect(hashPassword('x'.repeat(1_025))).rejects.toMatchObject({ code: 'invalid' });
});

it('is wrong for a hash nobody wrote', async () => {
  expect(await verifyPassword('anything at all', 'plain text')).toBe(false);
});

it('refuses a flood instead of serving it', async () => {
  const hash = oldHash('correct horse');
  const results = await Promise.allSettled(Array.from({ length: 60 }, () => verifyPassword('x', hash)));
  expect(results.filter((result) => result.status === 'rejected').length).toBeGreaterThan(0);
  expect(await verifyPassword('correct horse', hash)).toBe(true);
});

it.each([
  ['short', true],
  ['eight888', false],
  ['한국어비밀번호요', false],
])('judges %j', (password, bad) => {
  expect(passwordProblem(password) !== null).toBe(bad);
});

it.each([
  [' Mina@Example.com ', 'mina@example.com'],
  ['admin@outbox.local', 'admin@outbox.local'],
  ['a@localhost', 'a@localhost'],
  ['mina＠example.com', null],
  ['ｍina@example.com', null],
  ['admin\u0000@example.com', null],
  ['mina@', null],
  ['a b@c.d', null],
  [`${'a'.repeat(300)}@b.c`, null],
])('reads the address %j as %j', (input, email) => expect(normaliseEmail(input)).toBe(email));
