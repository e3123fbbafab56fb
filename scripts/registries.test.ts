import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { constantName, moduleNames, REGISTRIES, renderAll } from './registries';

describe('generated registries', () => {
  let root: string;
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };

  beforeEach(() => {
    root = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-gen-'));
    write('lib/messages/en.json', '{"language": {"name": "English"}}');
    write('docs/ARCHITECTURE.md', '<!-- rooms: here -->\n<!-- end -->\n');
  });
  afterEach(() => {
    fs.rmSync(root, { recursive: true });
  });

  it('lists one more verdict for one more file, tests left out', async () => {
    write('lib/diagnosis/verdicts/stalled.ts', 'export const stalledVerdict = {};\n');
    const before = (await renderAll(root)).get('lib/diagnosis/judge/verdict-registry.gen.ts');
    write('lib/diagnosis/verdicts/put-aside.ts', 'export const putAsideVerdict = {};\n');
    write('lib/diagnosis/verdicts/put-aside.test.ts', '');
    const after = (await renderAll(root)).get('lib/diagnosis/judge/verdict-registry.gen.ts');
    expect(before).not.toContain('putAside');
    expect(after).toContain("import { putAsideVerdict } from '../verdicts/put-aside';");
    expect(after).toContain('  putAsideVerdict, stalledVerdict,\n]');
    expect(after).not.toContain('put-aside.test');
  });

  it('names the constant a file should have exported', async () => {
    write('lib/diagnosis/verdicts/queue-full.ts', 'export const full = {};\n');
    await expect(renderAll(root)).rejects.toThrow(
      'lib/diagnosis/verdicts/queue-full.ts: export exactly one constant, named queueFullVerdict',
    );
  });

  it('lists the shapes of one file by their keys', async () => {
    write('lib/shape/catalog/ledger.ts', "export const zLedger = { key: 'z-ledger' };\nexport const aLedgerV2 = { key: 'b' };\n");
    for (const key of ['z-ledger', 'a-ledger-v2'])
      write(`fixtures/shapes/${key}.ts`, `export const ${constantName(key, 'Sample')} = {};\n`);
    await expect(renderAll(root)).rejects.toThrow("lib/shape/catalog/ledger.ts: the key of aLedgerV2 must be 'a-ledger-v2'");
  });

  it('asks for the table and rows of a shape without them, and for the shape of some', async () => {
    write('lib/shape/catalog/mine.ts', 'export const mine = {};\n');
    await expect(renderAll(root)).rejects.toThrow('fixtures/shapes/mine.ts: write the table and rows that lib/shape/catalog/mine.ts is');
    write('fixtures/shapes/mine.ts', 'export const mineSample = {};\n');
    write('fixtures/shapes/other.ts', 'export const otherSample = {};\n');
    await expect(renderAll(root)).rejects.toThrow('fixtures/shapes/other.ts: there is no shape other in lib/shape/catalog');
  });

  it('lists every code with its sentence', async () => {
    const words = { refusals: { held: 'A relay | holds it.' }, warnings: { many_messages: 'One row holds several.' } };
    write('lib/messages/en.json', JSON.stringify({ language: { name: 'English' }, ...words }));
    const page = (await renderAll(root)).get('docs/codes.md');
    expect(page).toContain('| `held` | A relay \\| holds it |');
    expect(page).toContain('| `many_messages` | One row holds several |');
  });

  it('asks for the place of the table of rooms', async () => {
    write('docs/ARCHITECTURE.md', '# Architecture\n');
    await expect(renderAll(root)).rejects.toThrow('no place for the table of rooms');
  });

  it('lists a language for a catalogue, English first', async () => {
    write('lib/messages/de.json', '{"language": {"name": "Deutsch"}}');
    const text = (await renderAll(root)).get('lib/messages/languages.gen.ts') ?? '';
    expect(text.indexOf("code: 'en'")).toBeLessThan(text.indexOf("code: 'de', name: 'Deutsch'"));
    expect(text).toContain("import('./de.json')");
  });

  it('asks for the name of a language without one', async () => {
    write('lib/messages/de.json', '{}');
    await expect(renderAll(root)).rejects.toThrow('de.json: add "language"');
  });

  it('covers every folder of ours', () => {
    const here = path.resolve(import.meta.dirname, '..');
    for (const { folder, suffix } of REGISTRIES) {
      for (const name of moduleNames(path.join(here, folder))) expect(constantName(name, suffix)).toMatch(/^[a-z][A-Za-z0-9]*$/);
    }
  });
});
