import { describe, expect, it } from 'vitest';
import { errorTemplate } from '@/lib/shared/lists/cause';
import { MASK } from '@/lib/shared/lists/shown';
import { maskText } from './mask-text';

describe('free text for a viewer', () => {
  it('hides what looks like personal data or a secret', () => {
    expect(maskText('smtp: 550 no mailbox for mina.kim@example.co.kr here')).toBe(`smtp: 550 no mailbox for ${MASK} here`);
    expect(maskText('card 4111 1111 1111 1111 declined')).toBe(`card ${MASK} declined`);
    expect(maskText('from DE89 3704 0044 0532 0130 00')).toBe(`from ${MASK}`);
    expect(maskText('bearer eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl')).toBe(`bearer ${MASK}`);
  });

  it('hides what stands behind a well-known key', () => {
    expect(maskText('POST {"password":"hunter2","n":1} refused')).toBe(`POST {"password":${MASK},"n":1} refused`);
    expect(maskText(String.raw`body "{\"token\":\"a b\"}"`)).not.toContain('a b');
    expect(maskText("{'api_key': 'hunter2'}, x")).toBe(`{'api_key': ${MASK}}, x`);
    expect(maskText('GET /pay?token=abc&order=7: password=hunter2, next')).toBe(`GET /pay?token=${MASK}&order=7: password=${MASK}, next`);
    expect(maskText('Unexpected token: }; the password is wrong; max_token=5')).toBe(
      'Unexpected token: }; the password is wrong; max_token=5',
    );
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

  it('parts no causes: of amounts that are alike but for their digits some look like card numbers', () => {
    const amounts = Array.from({ length: 40 }, (_, index) => String(6_800_000_000_000_000n + BigInt(index) * 7n));
    for (const written of [amounts, amounts.map((digits) => digits.replace(/\B(?=(?:\d{4})+$)/g, ' '))]) {
      const seen = written.map((digits) => maskText(`account has ${digits} wei`));
      expect(seen.some((text) => text.includes(MASK)) && seen.some((text) => !text.includes(MASK))).toBe(true);
      expect(new Set(seen.map(errorTemplate))).toEqual(new Set(['account has … wei']));
    }
  });
});
