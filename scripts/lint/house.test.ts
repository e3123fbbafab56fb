/** What a newcomer counts on: small rooms, few crumbs, one word per idea. The rules stand in docs/ARCHITECTURE.md. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { roomOf } from './layers.mjs';
import { PLAIN_WORDS } from './plain-words.mjs';
import { isProduct, sourceFiles } from './source-files';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FLAT_MAX = 25;
const SMALL_LINES = 25;
const SMALL_MAX = 60;
/** One file per library. */
const CATALOG = 'lib/shape/catalog';

const product = sourceFiles(ROOT).filter(isProduct);
const texts = new Map(product.map((file) => [file, fs.readFileSync(path.join(ROOT, file), 'utf8')]));

/** Names that a source text exports. */
function exportedNames(text: string): string[] {
  const declared = text.matchAll(/^export (?:default )?(?:async )?(?:abstract )?(?:function|const|let|class|interface|type)\*? (\w+)/gm);
  return [...declared].flatMap(([, name]) => name ?? []);
}

/** The words of a name, in lower case and in the singular. */
function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => singular(word.toLowerCase()));
}

function singular(word: string): string {
  if (/(ss|us|is|series|axes|ids)$/.test(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(ches|shes|xes|sses)$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') && word.length > 3 ? word.slice(0, -1) : word;
}

/** The words that the table of docs/ARCHITECTURE.md explains. */
function explainedWords(): Set<string> {
  const [, words = ''] = fs.readFileSync(path.join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8').split('\n## Words\n');
  const rows = (words.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| (?!words |-)/.test(line));
  return new Set(rows.flatMap((row) => (row.split('|')[1] ?? '').match(/[a-z]+/g) ?? []));
}

const generated = (file: string): boolean => file.endsWith('.gen.ts');
const used = new Map<string, string>();
for (const [file, text] of texts)
  if (!file.startsWith(CATALOG) && !generated(file))
    for (const name of exportedNames(text)) for (const word of wordsOf(name)) used.set(word, name);

describe('the house', () => {
  it(`has at most ${String(FLAT_MAX)} files flat in a folder`, () => {
    const counts = new Map<string, number>();
    for (const file of product) counts.set(path.posix.dirname(file), (counts.get(path.posix.dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([folder, count]) => folder !== CATALOG && count > FLAT_MAX)).toEqual([]);
  });

  it(`has at most ${String(SMALL_MAX)} files of less than ${String(SMALL_LINES)} lines`, () => {
    const small = [...texts].filter(
      ([file, text]) => !file.startsWith('app/') && !generated(file) && text.split('\n').length <= SMALL_LINES,
    );
    expect(small.length, small.map(([file]) => file).join('\n')).toBeLessThanOrEqual(SMALL_MAX);
  });

  it('has no function name that three rooms export', () => {
    const rooms = new Map<string, Set<string>>();
    for (const [file, text] of texts)
      for (const [, name = ''] of file.startsWith('app/') ? [] : text.matchAll(/^export (?:async )?function\*? (\w+)/gm))
        rooms.set(name, (rooms.get(name) ?? new Set()).add(roomOf(file) ?? ''));
    expect([...rooms].filter(([, found]) => found.size > 2)).toEqual([]);
  });

  it('is named by words that ARCHITECTURE explains, or that need no explanation', () => {
    const explained = explainedWords();
    const unheardOf = [...used].filter(([word]) => !explained.has(word) && !PLAIN_WORDS.has(word));
    expect(unheardOf, 'add a noun to the table of words in docs/ARCHITECTURE.md, or take a word that is there').toEqual([]);
  });

  it('keeps no word that nothing is named by', () => {
    expect([...PLAIN_WORDS].filter((word) => !used.has(word))).toEqual([]);
    expect([...explainedWords()].filter((word) => PLAIN_WORDS.has(word))).toEqual([]);
  });
});

describe('the check itself', () => {
  it('takes names apart', () => {
    expect(exportedNames('export const a = 1;\nexport async function* readRows() {}\nconst hidden = 2;\nexport type Cells = 1;')).toEqual([
      'a',
      'readRows',
      'Cells',
    ]);
    expect(wordsOf('READ_BYTES')).toEqual(['read', 'byte']);
    expect(wordsOf('seriesOfTypes')).toEqual(['series', 'of', 'type']);
    expect(wordsOf('SQLBatches')).toEqual(['sql', 'batch']);
  });
});
