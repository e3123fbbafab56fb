import { Anchor, Button } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { Fragment, useState } from 'react';
import { VARIABLE } from '@/lib/shared/lists/cause';
import { groupFilter } from '@/lib/shared/lists/dead-letter-groups';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import type { DeadLetterGroup } from '@/lib/shared/model';
import { visibleText } from '@/lib/shared/text/visible-text';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import classes from './dead-letters.module.css';

interface ErrorGroupsProps {
  outbox: string;
  groups: readonly DeadLetterGroup[];
  /** How many are shown at first. */
  first: number;
  /** Ticks every event of a group; null where nobody may change them. */
  onTick: ((group: DeadLetterGroup) => void) | null;
}

/** How many dead events there are of each type and error, most first; a line narrows the rows to it. */
export function ErrorGroups({ outbox, groups, first, onTick }: ErrorGroupsProps) {
  const t = useTranslations('deadLetters');
  const format = useFormat();
  const [all, setAll] = useState(false);
  const shown = all ? groups : groups.slice(0, first);
  return (
    <div className={classes.groups} data-tickable={onTick !== null || undefined}>
      <ul aria-label={t('groups')}>
        {shown.map((group, index) => (
          // By place: when two causes change places, their lines change text and do not jump.
          <li key={index}>
            <strong className={classes.groupCount}>{format.number(group.count)}</strong>
            <span className={classes.groupText}>
              <Anchor
                component={Link}
                href={groupHref(outbox, group)}
                prefetch={false}
                size="sm"
                className={classes.groupError}
                title={group.error ?? undefined}
              >
                {group.error === null ? t('noError') : <Template text={group.error} />}
              </Anchor>
              <bdi className={classes.groupType}>{group.type ?? t('noType')}</bdi>
            </span>
            {group.newestAt !== null && (
              <span className={classes.groupTime} title={t('newest')}>
                <RelativeTime at={group.newestAt} />
              </span>
            )}
            {onTick !== null && (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={t('tickGroupOf', { count: group.count, error: group.error ?? t('noError') })}
                onClick={() => onTick(group)}
              >
                {t('tickGroup')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {groups.length > shown.length && (
        <button type="button" className={classes.moreGroups} onClick={() => setAll(true)}>
          {t('moreGroups', { count: groups.length - shown.length })}
        </button>
      )}
    </div>
  );
}

/** The error with the places where its rows differ in grey. */
function Template({ text }: { text: string }) {
  return (
    <bdi>
      {text.split(VARIABLE).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <span className={classes.variable}>{VARIABLE}</span>}
          {visibleText(part)}
        </Fragment>
      ))}
    </bdi>
  );
}

function groupHref(outbox: string, group: DeadLetterGroup): string {
  return `/outboxes/${encodeURIComponent(outbox)}/dead-letters?${serialiseEventFilter(groupFilter(group)).toString()}`;
}
