import { isLosslessNumber, parse } from 'lossless-json';
import { useTranslations } from 'next-intl';
import { useMemo, useState, type ReactNode } from 'react';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useBeginning } from './facts';
import classes from './json-tree.module.css';

/** Entries of an object or array that are shown at first. */
const FIRST_ENTRIES = 100;
/** Levels that are open at first; the items of an array with more than OPEN_ENTRIES stay closed. */
const OPEN_LEVELS = 2;
const OPEN_ENTRIES = 12;
/** Characters of a value that are shown at first. */
const FIRST_CHARACTERS = 2_000;

/** JSON as a tree, `fallback` if the text is not JSON. Numbers keep the digits they were written with: they are never doubles. */
export function JsonTree({ text, fallback }: { text: string; fallback: ReactNode }) {
  const parsed = useMemo(() => {
    try {
      // The last of duplicate keys counts, as for consumers of the message.
      return { value: parse(text, null, { onDuplicateKey: ({ newValue }) => newValue }) };
    } catch {
      return null;
    }
  }, [text]);
  if (parsed === null) return fallback;
  return (
    <div className={classes.tree}>
      <Value value={parsed.value} level={0} />
    </div>
  );
}

function Value({ value, level }: { value: unknown; level: number }) {
  const entries = entriesOf(value);
  return entries === null ? <Scalar value={value} /> : <Branch entries={entries} array={Array.isArray(value)} level={level} />;
}

const entriesOf = (value: unknown): [string, unknown][] | null =>
  value === null || typeof value !== 'object' || isLosslessNumber(value) ? null : Object.entries(value);

function Branch({ entries, array, level }: { entries: [string, unknown][]; array: boolean; level: number }) {
  const t = useTranslations('event.tree');
  const [shown, setShown] = useState(FIRST_ENTRIES);
  if (entries.length === 0) return <span className={classes.empty}>{array ? '[]' : '{}'}</span>;
  return (
    <ul>
      {entries.slice(0, shown).map(([key, value]) => (
        <Entry key={key} name={key} value={value} array={array} level={level} short={entries.length <= OPEN_ENTRIES} />
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className={classes.more} onClick={() => setShown((before) => before + FIRST_ENTRIES)}>
            {t('more', { count: entries.length - shown })}
          </button>
        </li>
      )}
    </ul>
  );
}

/** `short`: its parent has few entries. */
function Entry({ name, value, array, level, short }: { name: string; value: unknown; array: boolean; level: number; short: boolean }) {
  const t = useTranslations('event.tree');
  const [open, setOpen] = useState(level < OPEN_LEVELS && (short || !array));
  const entries = entriesOf(value);
  const label = <bdi className={array ? classes.index : classes.key}>{visibleText(name)}</bdi>;
  if (entries === null || entries.length === 0) {
    return (
      <li>
        {label}
        <span className={classes.colon}>{': '}</span>
        <Value value={value} level={level + 1} />
      </li>
    );
  }
  return (
    <li>
      {/* Closed branches are not rendered: a payload may have a hundred thousand. */}
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {label}
          <span className={classes.size}>{t(Array.isArray(value) ? 'items' : 'fields', { count: entries.length })}</span>
        </summary>
        {open && <Branch entries={entries} array={Array.isArray(value)} level={level + 1} />}
      </details>
    </li>
  );
}

/** What the server writes for a masked value. */
const MASKED = /^•+$/;

function Scalar({ value }: { value: unknown }) {
  const t = useTranslations('event.tree');
  if (typeof value === 'string' && MASKED.test(value)) {
    return (
      <span className={classes.masked} title={t('masked')}>
        {value}
      </span>
    );
  }
  if (typeof value === 'string') return <LongText text={JSON.stringify(value)} className={classes.string} />;
  if (isLosslessNumber(value)) return <LongText text={value.value} className={classes.number} />;
  return <span className={classes.keyword}>{String(value)}</span>;
}

function LongText({ text, className }: { text: string; className?: string }) {
  const { beginning, more } = useBeginning(text, FIRST_CHARACTERS, classes.more);
  return (
    <>
      <bdi className={className}>{visibleText(beginning)}</bdi>
      {more}
    </>
  );
}
