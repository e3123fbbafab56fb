import { Skeleton } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { lazy, Suspense, useState } from 'react';
import type { Content, Unread } from '@/lib/shared/lists/shown';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat } from '../figures/format';
import { ChoiceBar, TextButton } from '../frame/controls';
import { Block, CopyAction, useBeginning } from './facts';
import classes from './event-screen.module.css';

const JsonTree = lazy(async () => ({ default: (await import('./json-tree')).JsonTree }));

const SHOWN_CHARACTERS = 20_000;

interface ShowAll {
  reading: boolean;
  ask: () => void;
}

/** A payload or headers: a tree if it is complete JSON, and always the text as stored. */
export function ContentView({ title, content, showAll }: { title: string; content: Content; showAll: ShowAll }) {
  const t = useTranslations('event');
  const say = useTranslations('warnings');
  const format = useFormat();
  const hasTree = content.format === 'json' && !content.cut && content.text !== null;
  const [view, setView] = useState<'tree' | 'text'>('tree');
  const size = (value: number) => sizeText(value, format.number);
  const whole = content.bytes === null ? null : size(content.bytes);
  const tools = (
    <>
      {whole !== null && (content.text !== null || content.unread !== null) && content.bytes !== 0 && (
        <span className={classes.size}>{content.bytesKnown === 'estimated' ? t('about', { size: whole }) : whole}</span>
      )}
      <span className={classes.blockTools}>
        {hasTree && (
          <ChoiceBar
            value={view}
            onChange={setView}
            data={[
              { value: 'tree', label: t('tree.tab') },
              { value: 'text', label: t('textTab') },
            ]}
            aria-label={t('viewOf', { title })}
          />
        )}
        {content.text !== null && <CopyAction value={content.text} label={title} />}
      </span>
    </>
  );
  return (
    <Block title={title} tools={tools}>
      {content.warning !== null && <p className={classes.note}>{say.has(content.warning) ? say(content.warning) : content.warning}</p>}
      {content.masked && <p className={classes.note}>{content.text === null ? t('withheld') : t('masked')}</p>}
      {content.cut && content.text !== null && (
        <p className={classes.note}>{t('cut', { shown: size(content.shownBytes), whole: whole ?? t('more') })}</p>
      )}
      {content.format === 'binary' && content.text !== null && <p className={classes.note}>{t('binary')}</p>}
      {content.unread !== null ? (
        <UnreadNote unread={content.unread} title={title} size={whole} showAll={showAll} />
      ) : content.text === null ? (
        !content.masked && <p className={classes.note}>{t('null')}</p>
      ) : hasTree && view === 'tree' ? (
        <Suspense fallback={<Skeleton height={Math.min(320, Math.max(40, content.shownBytes / 2))} />}>
          <JsonTree text={content.text} fallback={<RawText text={content.text} label={title} />} />
        </Suspense>
      ) : (
        <RawText text={content.text} label={title} />
      )}
    </Block>
  );
}

function UnreadNote({ unread, title, size, showAll }: { unread: Unread; title: string; size: string | null; showAll: ShowAll }) {
  const t = useTranslations('event.unread');
  return (
    <>
      <p className={classes.note}>{t(unread)}</p>
      {unread === 'on_request' && (
        <TextButton
          size="xs"
          variant="default"
          loading={showAll.reading}
          onClick={showAll.ask}
          aria-label={t('showOf', { title })}
          label={size === null ? t('showAll') : t('show', { size })}
        />
      )}
    </>
  );
}

function RawText({ text, label }: { text: string; label: string }) {
  const { beginning, more } = useBeginning(text, SHOWN_CHARACTERS, classes.linkButton);
  return (
    <>
      <pre className={classes.raw} tabIndex={0} aria-label={label}>
        <bdi>{visibleText(beginning)}</bdi>
      </pre>
      {more}
    </>
  );
}

function sizeText(bytes: number, number: (value: number, digits?: number) => string): string {
  if (bytes < 1_000) return `${number(bytes)} B`;
  if (bytes < 1_000_000) return `${number(bytes / 1_000, 1)} kB`;
  return `${number(bytes / 1_000_000, 1)} MB`;
}
