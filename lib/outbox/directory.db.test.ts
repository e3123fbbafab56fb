import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { useTestDatabase } from '@/scripts/testing/database';
import { createSample, settingsFor } from '@/scripts/testing/outbox';
import { PATIENCE_MS } from '@/scripts/testing/patience';
import { createDirectory } from './directory';
import { SHAPES } from '@/lib/shape/catalog.gen';

const shape = SHAPES.find(({ key }) => key === 'published-at');
if (shape === undefined) throw new Error('There is no such shape');

/** A table is looked at when the machine has time for it. */
const database = useTestDatabase((made) => createSample(made, shape));
let close = (): Promise<void> => Promise.resolve();
afterAll(() => close());

test('a reading takes the last binding, however old, while the table is looked at again', async () => {
  const directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: [{ ...settingsFor(shape), database: 'test' }],
  });
  close = () => directory.close();
  const before = await directory.last('sample');
  expect(await directory.last('sample')).toBe(before);
  await database.query('CREATE INDEX of_a_moment_ago ON outbox_events (created_at)');
  directory.forget('sample');
  expect(await directory.last('sample')).toBe(before);
  await vi.waitFor(async () => {
    const { main } = await directory.last('sample');
    expect(main.description.indexes.map(({ name }) => name)).toContain('of_a_moment_ago');
  }, PATIENCE_MS);
  expect((await directory.get('sample')).main.description.indexes.map(({ name }) => name)).toContain('of_a_moment_ago');
});

test('who watches has the table looked at every two minutes, who shows or changes rows every thirty seconds', async () => {
  const directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: [{ ...settingsFor(shape), database: 'test' }],
  });
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);
    const first = await directory.last('sample');
    later(119);
    expect(await directory.last('sample')).toBe(first);
    await sleep(300);
    expect(await directory.last('sample'), 'nobody has looked').toBe(first);
    later(2);
    await directory.last('sample');
    await vi.waitFor(async () => expect(await directory.last('sample')).not.toBe(first), PATIENCE_MS);
    const second = await directory.get('sample');
    later(29);
    expect(await directory.get('sample')).toBe(second);
    later(2);
    expect(await directory.get('sample')).not.toBe(second);
  } finally {
    vi.useRealTimers();
    await directory.close();
  }
});

test('a table that its mapping no longer fits is not read by the last binding that did, until it fits again', async () => {
  const directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: [{ ...settingsFor(shape), database: 'test' }],
  });
  try {
    const before = await directory.last('sample');
    // No figure needs it: what is read by the last binding goes well.
    await database.query('ALTER TABLE outbox_events RENAME COLUMN payload TO content');
    directory.forget('sample');
    await expect(directory.get('sample')).rejects.toMatchObject({ code: 'invalid' });
    await expect(directory.last('sample')).rejects.toMatchObject({ code: 'invalid' });
    await database.query('ALTER TABLE outbox_events RENAME COLUMN content TO payload');
    expect(await directory.last('sample')).not.toBe(before);
  } finally {
    await directory.close();
  }
});

test('a table that was being looked at when it was forgotten is looked at again, and the old look is not put back', async () => {
  /** Whoever looks waits here for what the store knows of the proof. */
  const looks: (() => void)[] = [];
  const directory = createDirectory({
    databases: [{ id: 'test', url: database.url }],
    outboxes: [{ ...settingsFor(shape), database: 'test' }],
    proofs: () => new Promise((resolve) => looks.push(() => resolve({ switched: null, decided: null }))),
  });
  try {
    const before = directory.get('sample');
    await expect.poll(() => looks.length).toBe(1);
    directory.forget('sample');
    const after = directory.get('sample');
    await expect.poll(() => looks.length).toBe(2);
    looks[1]?.();
    const wanted = await after;
    looks[0]?.();
    expect(await before).not.toBe(wanted);
    expect(await directory.get('sample')).toBe(wanted);
    expect(looks).toHaveLength(2);
  } finally {
    await directory.close();
  }
});
