import { expect, test } from 'vitest';
import { visibleText } from './visible-text';

test('a direction override is shown instead of obeyed', () => {
  expect(visibleText('abc\u202egnp.exe')).toBe('abc\\u202egnp.exe');
  expect(visibleText('pay\u200bpal\u0000\ufeff')).toBe('pay\\u200bpal\\u0000\\ufeff');
});

test('ordinary text of any script stays as it is', () => {
  const text = 'line\n\tтекст 이벤트 عربى 👍🏽 👨‍👩‍👧 “quotes” …';
  expect(visibleText(text)).toBe(text);
});
