import { describe, expect, it } from 'vitest';
import { Queue, type Ticket } from './queue';

describe('a queue', () => {
  const began: string[] = [];
  /** Names begin with the name of their group. */
  const enter = (queue: Queue, name: string): Ticket => {
    const ticket = queue.enter(name.slice(0, 1));
    void ticket.turn.then(() => began.push(name));
    return ticket;
  };
  const enterAll = (queue: Queue, names: string[]): Map<string, Ticket> => {
    began.length = 0;
    return new Map(names.map((name) => [name, enter(queue, name)]));
  };
  const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

  it('lets so many in at a time, the others in the order they came', async () => {
    const tickets = enterAll(new Queue(2), ['a', 'b', 'c', 'd']);
    await settle();
    expect(began).toEqual(['a', 'b']);
    tickets.get('a')?.leave();
    await settle();
    expect(began).toEqual(['a', 'b', 'c']);
  });

  it('divides the turns between groups, and lets a group go on where it is', async () => {
    const tickets = enterAll(new Queue(2), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
    await settle();
    expect(began).toEqual(['a1', 'b1']);
    tickets.get('a1')?.leave();
    tickets.get('b1')?.leave();
    await settle();
    expect(began).toEqual(['a1', 'b1', 'a2', 'b2']);
    tickets.get('b2')?.leave();
    await settle();
    expect(began.at(-1)).toBe('c1');
  });

  it('does not let a group go on for ever that others keep entering', async () => {
    const queue = new Queue(1);
    const tickets = enterAll(queue, ['a0', 'b']);
    for (let at = 0; at < 30 && !began.includes('b'); at += 1) {
      tickets.set(`a${String(at + 1)}`, enter(queue, `a${String(at + 1)}`));
      await settle();
      tickets.get(`a${String(at)}`)?.leave();
      await settle();
    }
    expect(began).toEqual([...Array.from({ length: 11 }, (_, at) => `a${String(at)}`), 'b']);
  });

  it('leaves no turn unused where there is one group only', async () => {
    enterAll(new Queue(3), ['a1', 'a2', 'a3', 'a4']);
    await settle();
    expect(began).toEqual(['a1', 'a2', 'a3']);
  });

  it('lets whoever is hurried in at once, and gives their place to nobody', async () => {
    const tickets = enterAll(new Queue(1), ['a', 'b', 'c']);
    await settle();
    tickets.get('c')?.hurry();
    tickets.get('c')?.hurry();
    await settle();
    expect(began).toEqual(['a', 'c']);
    tickets.get('a')?.leave();
    await settle();
    expect(began).toEqual(['a', 'c']);
    tickets.get('c')?.leave();
    await settle();
    expect(began).toEqual(['a', 'c', 'b']);
  });
});
