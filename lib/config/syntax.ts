/** Reads YAML with errors, each limited to the smallest key or item around it: the parser's own recovery misreads the lines after one. */
import { type Path, formatPath } from '@/lib/shared/lists/document-path';
import { tried } from '@/lib/shared/tried';
import { isAbout } from './document';
import { type Document, type ErrorCode, LineCounter, type YAMLError, isCollection, isScalar, parseDocument, visit } from 'yaml';

interface Broken {
  path: Path;
  /** A line that is part of nothing: its purpose is unknown. */
  stray: boolean;
}

interface Child {
  kind: 'key' | 'item' | 'stray';
  /** First line, and the line after the last. */
  from: number;
  to: number;
  indent: number;
  /** As written before the colon. */
  key: string;
}

const KEY = /^ *("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#\-{}[\],&*!|>'"%@`](?:.*?\S)??)\s*:(?=\s|$)/;
const ITEM = /^ *-(?=\s|$)/;
const SILENT = /^\s*(#|$)|^(---|\.\.\.|%)/;
const CLOSING = /^\s*[}\]]/;

const indentOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

/** The children in the lines from `from` to before `to`: keys of a map or items of a list. */
function childrenOf(lines: readonly string[], from: number, to: number): Child[] {
  const children: Child[] = [];
  let [kind, indent]: [Child['kind'] | null, number] = [null, 0];
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? '';
    const last = children.at(-1);
    const own = ITEM.test(line) ? 'item' : KEY.test(line) ? 'key' : 'stray';
    const silent = SILENT.test(line);
    if (!silent && last === undefined) indent = indentOf(line);
    if (!silent && own !== 'stray') kind ??= own;
    const deeper = /^ *\t/.test(line) || indentOf(line) > indent;
    if (silent || (last !== undefined && (deeper || CLOSING.test(line) || (kind === 'key' && own === 'item')))) {
      if (last !== undefined) last.to = at + 1;
      continue;
    }
    const fits = own === kind && indentOf(line) === indent;
    children.push({ kind: fits ? own : 'stray', from: at, to: at + 1, indent: indentOf(line), key: KEY.exec(line)?.[1] ?? '' });
  }
  return children;
}

/** Where an unclosed quote or bracket was opened: the parser only reports where it gave up. */
function openedAt(document: Document, error: YAMLError, text: string): number | null {
  let opened: number | null = null;
  visit(document, {
    Node(_, node) {
      const quoted = isScalar(node) && (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE');
      if (!quoted && !(isCollection(node) && node.flow === true)) return;
      const [start, valueEnd, end] = node.range ?? [Infinity, 0, 0];
      let inner = start + 1;
      visit(node, { Node: (__, child) => void (child !== node && (inner = Math.max(inner, child.range?.[1] ?? 0))) });
      const closed = !quoted && /[}\]]/.test(text.slice(inner, valueEnd));
      if (!closed && start < error.pos[0] && end >= error.pos[0]) opened = start;
    },
  });
  return opened;
}

class Recovery {
  readonly broken: Broken[] = [];
  readonly problems: string[] = [];
  databasesTwice = false;

  constructor(readonly lines: string[]) {}

  private parse(from: number, to: number, uniqueKeys = false): { document: Document; counter: LineCounter; text: string } {
    const counter = new LineCounter();
    const text = this.lines.slice(from, to).join('\n');
    return { document: parseDocument(text, { prettyErrors: false, uniqueKeys, lineCounter: counter }), counter, text };
  }

  private tell(path: Path, from: number, { document, counter, text }: ReturnType<Recovery['parse']>, error: YAMLError | undefined): void {
    const unclosed = error?.code === 'BAD_INDENT' || (error?.code === 'MISSING_CHAR' && error.message.startsWith('Missing closing'));
    const offset =
      error === undefined ? indentOf(this.lines[from] ?? '') : ((unclosed ? openedAt(document, error, text) : null) ?? error.pos[0]);
    const { line, col } = counter.linePos(offset);
    const at = this.lines[from + line - 1] ?? '';
    const key = error?.code === 'DUPLICATE_KEY' ? KEY.exec(at.slice(col - 1))?.[1] : undefined;
    this.problems.push(`${formatPath(path)}: not YAML at line ${from + line}, column ${Math.max(1, col)}: ${adviceOn(error, at, key)}`);
  }

  private drop(child: Child, path: Path): void {
    const parsed = this.parse(child.from, child.to);
    this.tell(path, child.from, parsed, parsed.document.errors[0]);
    this.broken.push({ path, stray: child.kind === 'stray' });
    const lead = ' '.repeat(child.indent);
    const rest = { key: `${lead}${child.key}: null`, item: `${lead}- null`, stray: '' }[child.kind];
    for (let at = child.from; at < child.to; at += 1) this.lines[at] = at === child.from ? rest : '';
  }

  private inside(child: Child, path: Path): void {
    const header = this.lines[child.from] ?? '';
    const undashed = header.replace('-', ' ');
    if (child.kind === 'item' && !SILENT.test(undashed) && !KEY.test(undashed) && !ITEM.test(undashed)) return;
    if (child.kind === 'item') {
      this.lines[child.from] = undashed;
      this.mend(child.from, child.to, path);
      this.lines[child.from] = `${' '.repeat(child.indent)}-${(this.lines[child.from] ?? '').slice(child.indent + 1)}`;
    } else if (/^\s*(#.*)?$/.test(header.replace(KEY, ''))) this.mend(child.from + 1, child.to, path);
  }

  /** Removes what cannot be parsed from the lines from `from` to before `to`, which are the children of `path`. */
  mend(from: number, to: number, path: Path): void {
    let items = 0;
    for (const child of childrenOf(this.lines, from, to)) {
      if (child.kind === 'stray') {
        this.drop(child, path);
        continue;
      }
      const own = [...path, child.kind === 'item' ? items++ : keyText(child.key)];
      const isBroken = (): boolean => this.parse(child.from, child.to).document.errors.length > 0;
      if (!isBroken()) continue;
      this.inside(child, own);
      if (isBroken()) this.drop(child, own);
    }
  }

  /** The remaining document, with duplicate keys reported; null if even that cannot be parsed. */
  rest(): unknown {
    const parsed = this.parse(0, this.lines.length, true);
    for (const error of parsed.document.errors) {
      if (error.code !== 'DUPLICATE_KEY' && this.problems.length > 0) return null;
      this.tell([], 0, parsed, error);
      this.databasesTwice ||= /^["']?databases\b/.test(parsed.text.slice(error.pos[0]));
      if (error.code !== 'DUPLICATE_KEY') return null;
    }
    // It throws for an alias of a removed part.
    return tried(() => parsed.document.toJS() as unknown) ?? null;
  }
}

/** Reads text that is only partly YAML; reports one error per part it spoils. */
export function recover(text: string) {
  const recovery = new Recovery(text.split(/\r?\n/));
  if (!parseDocument(text).errors.some(({ code }) => code === 'MULTIPLE_DOCS')) recovery.mend(0, recovery.lines.length, []);
  const document = recovery.rest();
  const { broken, problems } = recovery;
  const databasesKnown =
    !recovery.databasesTwice && broken.every(({ path }) => path.length > 1 || (path.length === 1 && path[0] !== 'databases'));
  return {
    /** The readable rest, with null for each broken part; null if nothing is readable. */
    document,
    /** One line per error: path, line, column, problem and advice. */
    problems,
    /** True for a problem of `document` that is real whatever the broken parts were meant to be. */
    believable: (problem: string): boolean =>
      (!problem.includes(': there is no database "') || databasesKnown) && broken.every((part) => !concerns(problem, part)),
  };
}

/** Whether a problem is about a broken part, its parents, or a key that may be lost in it. */
function concerns(problem: string, { path, stray }: Broken): boolean {
  const at = formatPath(path);
  const where = problem.slice(0, problem.indexOf(': '));
  if (where === at || (!stray && isAbout(problem, at)) || isAbout(at, where)) return true;
  const parent = stray ? at : formatPath(path.slice(0, -1));
  return problem.includes(': missing; ') && (parent === '(file)' ? !/[.[]/.test(where) : isAbout(where, parent));
}

const ADVICE: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab at the beginning; indent with spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a second ": " where a value stands; put the value in quotes, or indent this line and the next alike',
  MULTILINE_IMPLICIT_KEY: 'a key that goes over lines; end it with a colon on its own line',
  BAD_INDENT: 'a bracket that is not closed; close it, and indent what is inside it',
  BAD_DQ_ESCAPE: 'a backslash that means nothing here; write it twice, or take single quotes',
  BAD_SCALAR_START: 'a character that no plain value begins with; put the value in quotes',
  MULTIPLE_DOCS: 'a second document begins; write one, and leave out the line ---',
  UNEXPECTED_TOKEN: 'more than one value; put the value in quotes where it holds quotes, brackets or colons',
};

/** Advice on an error in this line; without an error, on a line that is neither key nor item. `key` is a duplicate one. */
export function adviceOn(error: YAMLError | undefined, line: string, key = 'a key'): string {
  if (/^ *\t/.test(line)) return ADVICE.TAB_AS_INDENT ?? '';
  if (error === undefined)
    return 'neither "key: value" nor "- item" of what is beside it; write the colon, and indent it as its neighbours';
  if (/[{[].*\$\{/.test(line)) return 'braces inside braces; put "${…}" in quotes';
  if (error.message.startsWith('Missing closing')) return 'a quote that is not closed; close it';
  if (error.code === 'DUPLICATE_KEY') return `${key} is there already; write it once`;
  if (error.code === 'MISSING_CHAR') return 'no colon, or no dash, where one belongs; write it, and indent the line as its neighbours';
  return ADVICE[error.code] ?? `${error.message}; mend it`;
}

/** Parses a key as written, quotes and all. */
export const keyText = (key: string): string => String(parseDocument(key).toJS());
