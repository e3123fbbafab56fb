import { expect, it } from 'vitest';
import type { ColumnDescription } from '@/lib/database/engine';
import { shapeSchema } from '@/lib/outbox/shape';
import { solve } from './solve';

const number = (name: string): ColumnDescription => ({ name, type: 'integer', kind: 'integer', nullable: false, generated: false });
const columns = new Map(['tries', 'most'].map((name) => [name, number(name)]));

it.each(['atLeast', 'above'] as const)(
  'a row that has reached its own limit (%s) has one, which an operation can bring it back below',
  (word) => {
    const shape = shapeSchema.parse({
      key: 'inline',
      label: 'x',
      origin: 'x',
      engines: ['postgres'],
      table: 'x',
      columns: { id: 'id' },
      states: [
        { state: 'dead', when: { column: 'tries', [word]: { column: 'most' } } },
        { state: 'pending', when: { always: true } },
      ],
    });
    const [dead] = solve(shape, 'dead', [], { columns, parameters: new Map() });
    expect(dead?.get('most')).toEqual({ value: 1 });
    expect(dead?.get('tries')).toEqual({ value: word === 'above' ? 2 : 1 });
    const [pending] = solve(shape, 'pending', [], { columns, parameters: new Map() });
    expect(pending?.get('tries')).toEqual({ value: 0 });
  },
);
