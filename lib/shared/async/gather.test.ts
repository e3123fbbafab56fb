import { describe, expect, it } from 'vitest';
import { gather } from './gather';

describe('questions that are gathered', () => {
  it('are answered together when they are asked together, each with its own answer', async () => {
    const goes: number[][] = [];
    const ask = gather<number, number>(100, (questions) => {
      goes.push([...questions]);
      return Promise.resolve(questions.map((question) => question * 2));
    });
    expect(await Promise.all([1, 2, 3].map(ask))).toEqual([2, 4, 6]);
    expect(goes).toEqual([[1, 2, 3]]);
  });

  it('wait for the go under way, and then go together, no more than so many at a time', async () => {
    const goes: number[] = [];
    let release = (): void => undefined;
    const ask = gather<number, number>(2, async (questions) => {
      goes.push(questions.length);
      if (goes.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return questions;
    });
    const first = ask(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const others = [2, 3, 4].map(ask);
    release();
    expect(await Promise.all([first, ...others])).toEqual([1, 2, 3, 4]);
    expect(goes).toEqual([1, 2, 1]);
  });

  it('fail together, and the next ones are asked all the same', async () => {
    let fails = true;
    const ask = gather<number, number>(10, (questions) => (fails ? Promise.reject(new Error('away')) : Promise.resolve(questions)));
    await expect(Promise.all([ask(1), ask(2)])).rejects.toThrow('away');
    fails = false;
    expect(await ask(3)).toBe(3);
  });
});
