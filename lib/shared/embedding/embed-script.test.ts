/** public/embed.v1.js is written by hand and served as it is; what it says to frames is typed here. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { PROTOCOL, type CardState, type CardTheme, type FromFrame, type ToFrame } from './messages';
import { CARD_PARAMETERS, CARD_VIEWS } from './views';

const SCRIPT = path.resolve(import.meta.dirname, '../../../public/embed.v1.js');
const text = readFileSync(SCRIPT, 'utf8');

// Complete by type: a message that is added is missing here until the script knows it.
const FROM_FRAME: Record<FromFrame['type'], true> = { ready: true, size: true, state: true, 'token-wanted': true };
const TO_FRAME: Record<ToFrame['type'], true> = { token: true, theme: true };
const STATES: Record<CardState, true> = { loading: true, live: true, stale: true, refused: true, unreachable: true };
const THEMES: Record<CardTheme, true> = { light: true, dark: true, auto: true };

const transpiled = (target: ts.ScriptTarget) =>
  ts.transpileModule(text, { fileName: 'embed.v1.js', reportDiagnostics: true, compilerOptions: { target, allowJs: true } });

describe('public/embed.v1.js', () => {
  it('weighs at most 6 kB', () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6_000);
  });

  it('is a classic script in the JavaScript of 2020', () => {
    const plain = transpiled(ts.ScriptTarget.ES2020);
    expect(plain.diagnostics).toEqual([]);
    expect(plain.outputText).toBe(transpiled(ts.ScriptTarget.ESNext).outputText);
    expect(text).not.toMatch(/^\s*(import|export)\b/m);
  });

  it('uses nothing that a strict policy of the host refuses', () => {
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|srcdoc|document\.write|\beval\b|new Function|setAttribute\('style'/);
  });

  it('speaks the protocol of the frame', () => {
    expect(text.match(/'outbox-card\.v\d+'/g)?.every((one) => one === `'${PROTOCOL}'`)).toBe(true);
    for (const type of Object.keys(FROM_FRAME)) expect(text).toContain(`type === '${type}'`);
    for (const type of Object.keys(TO_FRAME)) expect(text).toContain(`{ type: '${type}', `);
    expect(text).toContain(`/^(${Object.keys(STATES).join('|')})$/`);
    for (const theme of Object.keys(THEMES)) expect(text).toContain(theme);
    expect(text).toContain(`state === 'live'`);
    expect(text).toContain(`why === '${'ending' satisfies Extract<FromFrame, { why: string }>['why']}'`);
  });

  it('knows the views and their parameters', () => {
    expect(text).toContain(`/^(${CARD_VIEWS.join('|')})$/`);
    const parameters = new Set(Object.values(CARD_PARAMETERS).flatMap((of) => Object.keys(of)));
    const claims = /const CLAIMS = (\[.*\]);/.exec(text)?.[1]?.replaceAll("'", '"');
    expect(JSON.parse(claims ?? 'null')).toEqual([
      'view',
      ...[...parameters].flatMap((one) => (one === 'key' ? ['key', 'business-key'] : [one])),
    ]);
  });
});
