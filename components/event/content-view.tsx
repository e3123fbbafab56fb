'use client';

import { SegmentedControl, Skeleton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { lazy, Suspense, useState } from 'react';
import type { Content } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/visible-text';
import { useFormat } from '../figures/use-format';
import { CopyAction } from './copy-value';
import classes from './event-screen.module.css';

const JsonTree = lazy(async () => ({ default: (await import('./json-tree')).JsonTree }));

/** Characters put on screen as one text; the rest is asked for, so that a megabyte does not freeze the page. */
const SHOWN_CHARACTERS = 20_000;

/** A payload or headers: a tree where it is whole JSON, and always the text as it is stored. */
export function ContentView({ title, content }: { title: string; content: Content }) {
  const t = useTranslations('event');
  const say = useTranslations('warnings');
  const format = useFormat();
  const hasTree = content.format === 'json' && !content.cut && content.text !== null;
  const [view, setView] = useState<'tree' | 'text'>('tree');
  const bytes = (value: number) => sizeText(value, format.number);
  return (
    <section className={classes.block} aria-label={title}>
      <header className={classes.blockHeader}>
        <h2>{title}</h2>
        {content.text !== null && <span className={classes.size}>{bytes(content.bytes)}</span>}
        <span className={classes.blockTools}>
          {hasTree && (
            <SegmentedControl
              size="xs"
              value={view}
              onChange={(value) => setView(value === 'text' ? 'text' : 'tree')}
              data={[
                { value: 'tree', label: t('tree.tab') },
                { value: 'text', label: t('textTab') },
              ]}
              aria-label={t('viewOf', { title })}
            />
          )}
          {content.text !== null && <CopyAction value={content.text} label={title} />}
        </span>
      </header>
      {content.warning !== null && <p className={classes.note}>{say.has(content.warning) ? say(content.warning) : content.warning}</p>}
      {content.masked && <p className={classes.note}>{content.text === null ? t('withheld') : t('masked')}</p>}
      {content.cut && content.text !== null && (
        <p className={classes.note}>{t('cut', { shown: bytes(content.shownBytes), whole: bytes(content.bytes) })}</p>
      )}
      {content.format === 'binary' && content.text !== null && <p className={classes.note}>{t('binary')}</p>}
      {content.text === null ? (
        !content.masked && <p className={classes.note}>{t('null')}</p>
      ) : hasTree && view === 'tree' ? (
        <Suspense fallback={<Skeleton height={Math.min(320, Math.max(40, content.bytes / 2))} />}>
          <JsonTree text={content.text} fallback={<RawText text={content.text} label={title} />} />
        </Suspense>
      ) : (
        <RawText text={content.text} label={title} />
      )}
    </section>
  );
}

function RawText({ text, label }: { text: string; label: string }) {
  const t = useTranslations('event');
  const [shown, setShown] = useState(SHOWN_CHARACTERS);
  return (
    <>
      <pre className={classes.raw} tabIndex={0} aria-label={label}>
        <bdi>{visibleText(text.slice(0, shown))}</bdi>
      </pre>
      {text.length > shown && (
        <button type="button" className={classes.linkButton} onClick={() => setShown((before) => before * 4)}>
          {t('moreText', { count: text.length - shown })}
        </button>
      )}
    </>
  );
}

function sizeText(bytes: number, number: (value: number, digits?: number) => string): string {
  if (bytes < 1_000) return `${number(bytes)} B`;
  if (bytes < 1_000_000) return `${number(bytes / 1_000, 1)} kB`;
  return `${number(bytes / 1_000_000, 1)} MB`;
}
