import { describe, expect, it } from 'vitest';
import { isTimeOff, timeInId } from './record-time';

const MADE = '0199a1b2-c3d4-7000-8000-000000000000';

describe('the time of a record', () => {
  it('stands inside its id, and in no id of another kind', () => {
    expect(timeInId(MADE)).toBe(new Date(0x0199a1b2c3d4).toISOString());
    expect(timeInId('0199a1b2-c3d4-4000-8000-000000000000')).toBeNull();
    expect(timeInId('not an id')).toBeNull();
  });

  it('is off from five minutes on, either way', () => {
    const at = (ms: number): string => new Date(0x0199a1b2c3d4 + ms).toISOString();
    expect([-300_000, 0, 300_000].map((ms) => isTimeOff(MADE, at(ms)))).toEqual([false, false, false]);
    expect([-300_001, 300_001].map((ms) => isTimeOff(MADE, at(ms)))).toEqual([true, true]);
    expect(isTimeOff('0199a1b2-c3d4-4000-8000-000000000000', '2099-01-01T00:00:00Z')).toBe(false);
  });
});
