import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnDescription } from '@/lib/database/description';
import { postgresEngine } from '@/lib/database/postgres/engine';
import { decodeCursor, encodeCursor, keyFits, type Cursor } from './cursor';
import { decodeVersion, encodeVersion } from '../rows/version';

const cursors: fc.Arbitrary<Cursor> = fc.record({
  order: fc.constantFrom('newest' as const, 'oldest' as const),
  direction: fc.constantFrom('next' as const, 'previous' as const),
  by: fc.constantFrom('created' as const, 'happened' as const, 'key' as const),
  key: fc.constantFrom(
    null,
    '2026-11-21 09:30:00.123456+00',
    '2026-11-21 09:30:00',
    '-infinity',
    'infinity',
    '10000-01-01 00:00:00+00',
    '0044-03-15 00:00:00+00 BC',
    '1767225601000',
    '2026-11-21T09:30:00.123456789Z',
  ),
  id: fc.string(),
});

describe('a cursor', () => {
  it('comes back as it went out', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        expect(decodeCursor(encodeCursor(cursor), cursor.order, cursor.by)).toEqual(cursor);
      }),
    );
  });

  it('is refused for another order, and by a list that goes by something else', () => {
    const made = encodeCursor({ order: 'newest', by: 'created', direction: 'next', key: null, id: '1' });
    expect(() => decodeCursor(made, 'oldest', 'created')).toThrow(/cursor/);
    expect(() => decodeCursor(made, 'newest', 'happened')).toThrow(/cursor/);
  });

  it('is refused when anybody else made it, and never throws anything but a problem', () => {
    const foreign = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
      fc.constant(Buffer.from(JSON.stringify(['n', 'c', 'n', "now()'; drop", 'x'])).toString('base64url')),
      // What the console made before lists had an order of their own.
      fc.constant(Buffer.from(JSON.stringify(['n', 'n', '2026-11-21 09:30:00', '1'])).toString('base64url')),
    );
    fc.assert(
      fc.property(foreign, (text) => {
        try {
          decodeCursor(text, 'newest', 'created');
        } catch (error) {
          expect(error).toMatchObject({ name: 'Problem', code: 'invalid' });
        }
      }),
    );
  });
});

describe('the key of a cursor', () => {
  const column = (kind: ColumnDescription['kind'], type: string) => ({ kind, type }) as ColumnDescription;
  const COLUMNS = {
    instant: column('instant', 'timestamp with time zone'),
    epoch: column('integer', 'bigint'),
    exact: column('decimal', 'numeric'),
    iso: column('text', 'character varying'),
  };

  it.each([
    ['2026-11-21 09:30:00.123456+00', 'instant', true],
    ['1767225601000', 'instant', false],
    ["now()'; drop", 'instant', false],
    ['1767225601000', 'epoch', true],
    ['99999999999999999999', 'epoch', false],
    ['2026-11-21 09:30:00', 'epoch', false],
    ['1767225601.123456', 'exact', true],
    ['1e9', 'exact', false],
    ['2026-11-21T09:30:00.123456789Z', 'iso', true],
    ['2026\u0000', 'iso', false],
  ] as const)('%s of a column %s: %s', (key, kind, fits) => {
    expect(keyFits(key, COLUMNS[kind], postgresEngine)).toBe(fits);
  });
});

describe('a version', () => {
  it('comes back as it went out', () => {
    for (const [place, state, touched] of [
      ['main', 'pending', 0],
      ['main', 'unmapped', null],
      ['dead', 'dead', 12],
      ['archive', 'archived', 1],
    ] as const) {
      const version = { place, state, exact: '4294967295', stable: 'd41d8cd98f00b204e9800998ecf8427e', touched };
      expect(decodeVersion(encodeVersion(version))).toEqual(version);
    }
  });

  it('is null for anything else', () => {
    for (const text of [
      '',
      'm',
      'm.1',
      'x.dead.1.d41d8cd98f00b204e9800998ecf8427e.0',
      'm.gone.1.d41d8cd98f00b204e9800998ecf8427e.0',
      'm.dead.-1.d41d8cd98f00b204e9800998ecf8427e.0',
      'm.dead.1.D41D8CD98F00B204E9800998ECF8427E.0',
      'm.dead.1.d41d8cd98f00b204e9800998ecf8427e.0 ',
      'm.dead.1.d41d8cd98f00b204e9800998ecf8427e.-1',
      'm.dead.1.d41d8cd98f00b204e9800998ecf8427e.01',
      'm.dead.1.d41d8cd98f00b204e9800998ecf8427e',
      // As it was before versions held the state and the count.
      'm.1.d41d8cd98f00b204e9800998ecf8427e',
    ]) {
      expect(decodeVersion(text)).toBeNull();
    }
  });
});
