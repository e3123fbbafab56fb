import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

function tokens(scheme: string): Record<string, string> {
  const block = css.split(`[data-mantine-color-scheme='${scheme}'] {`)[1]?.split('}')[0] ?? '';
  return Object.fromEntries([...block.matchAll(/--oc-([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

/** Relative luminance as WCAG 2 defines it. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((start) => parseInt(hex.slice(start, start + 2), 16) / 255)
    .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(['light', 'dark'])('the %s theme', (scheme) => {
  const token = tokens(scheme);
  const on = (text: string, ground: string) => contrast(token[text] ?? '#000000', token[ground] ?? '#000000');

  it.each(['text', 'dimmed', 'accent', 'blue', 'amber', 'violet', 'green', 'red', 'grey'])('%s can be read on every surface', (name) => {
    for (const surface of ['page', 'surface', 'raised']) expect(on(name, surface), `${name} on ${surface}`).toBeGreaterThanOrEqual(4.5);
  });

  it.each(['accent', 'blue', 'amber', 'violet', 'green', 'red', 'grey'])('%s can be read on its own soft ground', (name) => {
    expect(on(name, `${name}-soft`)).toBeGreaterThanOrEqual(4.5);
    expect(on('text', `${name}-soft`)).toBeGreaterThanOrEqual(4.5);
  });
});
