'use client';

import { Anchor } from '@mantine/core';
import { useTranslations } from 'next-intl';
import Link from 'next/link';
import { serialiseEventFilter } from '@/lib/shared/event-filter';
import type { DeadLetterGroup } from '@/lib/shared/model';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import classes from './dead-letters.module.css';

interface ErrorGroupsProps {
  outbox: string;
  groups: readonly DeadLetterGroup[];
  /** How many are shown; the rest is on the outbox's own screen. */
  limit?: number;
}

/** How many dead events there are of each type and error text, most first; a line narrows the rows to it. */
export function ErrorGroups({ outbox, groups, limit }: ErrorGroupsProps) {
  const t = useTranslations('deadLetters');
  const format = useFormat();
  const shown = limit === undefined ? groups : groups.slice(0, limit);
  return (
    <ul className={classes.groups} aria-label={t('groups')}>
      {shown.map((group) => (
        <li key={JSON.stringify([group.type, group.error])}>
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
              <bdi>{group.error ?? t('noError')}</bdi>
            </Anchor>
            <bdi className={classes.groupType}>{group.type ?? t('noType')}</bdi>
          </span>
          {group.newestAt !== null && (
            <span className={classes.groupTime}>
              <RelativeTime at={group.newestAt} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The filter looks for a part of the error text, so its beginning is enough; a long one would not fit a URL. */
const ERROR_IN_URL = 200;

function groupHref(outbox: string, { type, error }: DeadLetterGroup): string {
  const params = serialiseEventFilter({ type: type === null ? undefined : [type], error: error?.slice(0, ERROR_IN_URL) });
  return `/outboxes/${encodeURIComponent(outbox)}/dead-letters?${params.toString()}`;
}
