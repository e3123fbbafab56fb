import { describe, expect, it } from 'vitest';
import { MASK } from './mask';
import { maskText } from './mask-text';

describe('free text for a viewer', () => {
  it('hides what looks like personal data or a secret', () => {
    expect(maskText('smtp: 550 no mailbox for mina.kim@example.co.kr here')).toBe(`smtp: 550 no mailbox for ${MASK} here`);
    expect(maskText('card 4111 1111 1111 1111 declined')).toBe(`card ${MASK} declined`);
    expect(maskText('from DE89 3704 0044 0532 0130 00')).toBe(`from ${MASK}`);
    expect(maskText('bearer eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl')).toBe(`bearer ${MASK}`);
  });

  it('leaves ids, numbers and times alone', () => {
    for (const text of [
      'order-98078: version 19 expected, 78 found',
      'wei 6800000000001',
      '2026-11-21 10:43:53.123456',
      '57d958d5-271c-4c1e-a7c4-c6f1eff0f349',
      'node-2.internal:50051',
    ])
      expect(maskText(text)).toBe(text);
  });
});
