import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { useTestDatabase } from '../testing/database';
import { addDetect } from './command';

const server = useTestDatabase(async (db) => {
  await db.query(`
    CREATE TABLE order_outbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event_type text NOT NULL, payload jsonb NOT NULL, status text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz);
    INSERT INTO order_outbox (event_type, payload, status) VALUES ('order.created', '{"card": "4111111111111111"}', 'NEW'), (E'evil\\x1b[2Jtype', '{}', 'failed');
    CREATE SCHEMA empty; CREATE TABLE empty.users (id bigint PRIMARY KEY, email text);
    CREATE SCHEMA hidden; CREATE TABLE hidden.outbox (id bigint PRIMARY KEY, event_type text, payload jsonb, created_at timestamptz, sent_at timestamptz);
  `);
  await db.query(
    `CREATE ROLE detect_reader_${db.name} LOGIN PASSWORD 'pass-word-1'; GRANT SELECT ON order_outbox TO detect_reader_${db.name}`,
  );
});
const readerUrl = (): string => server.urlFor(`detect_reader_${server.name}`, 'pass-word-1');

async function run(...args: string[]): Promise<{ out: string; status: number | string; error: string }> {
  const lines: string[] = [];
  const program = new Command('console').exitOverride().configureOutput({ writeErr: () => undefined });
  addDetect(program, {
    configuration: () => Promise.reject(new Error('not asked for')),
    answer: (line) => void lines.push(line),
    failure: (message, status) => Object.assign(new Error(message), { status }),
  });
  try {
    await program.parseAsync(['node', 'console', 'detect', ...args]);
    return { out: lines.join('\n'), status: process.exitCode ?? 0, error: '' };
  } catch (error) {
    return { out: lines.join('\n'), status: String(Reflect.get(error as Error, 'status')), error: (error as Error).message };
  } finally {
    process.exitCode = undefined;
  }
}

describe('console detect', () => {
  it('prints what it found, why, and the lines to paste, without a value of a payload or a part of the login', async () => {
    const { out, status, error } = await run(readerUrl());
    expect([status, error]).toEqual([0, '']);
    expect(out).toContain('Likely  ·  public.order_outbox');
    expect(out).toContain('How far it is: status');
    // Nobody has analysed the table: its two rows are counted.
    expect(out).toContain('made by hand  ·  2 rows\n');
    expect(out).toContain('Values of status, counted in 2 rows');
    expect(out).toContain('All 2 rows were read. 1 row fits no state.');
    expect(out).toContain('# what does "failed" mean?');
    expect(out).toContain('{"card":"••••"}');
    expect(out).not.toMatch(/4111|pass-word|detect_reader/);
    // Nothing out of the database reaches the terminal as a command.
    expect(out).not.toContain('\u001b');
  });

  it('finds a table the login may not read, and says what to grant', async () => {
    const { out } = await run(readerUrl(), '--schema', 'hidden');
    expect(out).toContain('hidden.outbox');
    expect(out).toContain('grant it SELECT');
  });

  it('can be pasted whole, and says where to and what comes next', async () => {
    const { out } = await run(server.url);
    expect(out.match(/^outboxes:$/gm)).toHaveLength(1);
    expect(out.match(/^ {2}- id: /gm)).toHaveLength(2);
    expect(out).toContain(`databases:\n  ${server.name.replaceAll('_', '-')}:\n    url: \${${server.name.toUpperCase()}_URL}`);
    expect(out).toMatch(/install <outbox>, and npm run console -- prove <outbox>\.$/);
  });

  it('answers the same as JSON, in a form with a number', async () => {
    const { out } = await run(server.url, '--json', '--rows', '1');
    const read = JSON.parse(out) as {
      format: number;
      candidates: { candidate: { table: string }; sample: { rows: unknown[]; looked: number } }[];
    };
    expect(read.format).toBe(1);
    expect(read.candidates.map(({ candidate }) => candidate.table).sort()).toEqual(['hidden.outbox', 'public.order_outbox']);
    expect(read.candidates.find(({ candidate }) => candidate.table === 'public.order_outbox')?.sample).toMatchObject({
      looked: 2,
      rows: [{}],
    });
    expect(out).not.toContain('4111');
  });

  it('tells nothing found from something wrong', async () => {
    expect((await run(server.url, '--schema', 'empty')).status).toBe(3);
    const url = new URL(server.url);
    url.port = '1';
    url.password = 'secret-word';
    const unreachable = await run(url.href);
    expect(unreachable).toMatchObject({ status: 'failed', out: '' });
    expect(unreachable.error).toContain('cannot be reached');
    expect(unreachable.error).not.toContain('secret-word');
    const wrong = new URL(readerUrl());
    wrong.password = 'wrong-word';
    expect((await run(wrong.href)).error).toMatch(/cannot be reached|refused the login/);
    wrong.pathname = '/there_is_none';
    wrong.password = 'pass-word-1';
    expect((await run(wrong.href)).error).toContain('no database of this name');
    const tls = new URL(server.url);
    tls.searchParams.set('sslmode', 'require');
    expect((await run(tls.href)).error).toContain('speaks no TLS');
  });

  it.each([
    [['not a url ://'], 'no connection string'],
    [['redis://host/1'], 'No engine speaks redis:'],
    [['postgresql://h/x', '--shape', 'nonsense'], 'there is no shape "nonsense"'],
    [['postgresql://h/x', '--rows', '99'], '--rows'],
  ])('refuses %j before it connects', async (args, words) => {
    expect(await run(...args)).toMatchObject({ status: 'usage', error: expect.stringContaining(words) as string });
  });
});
