import { Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { FleetNews } from '@/lib/shared/doctor';
import { formatMoney } from '@/lib/shared/text/money';
import { AuditSentence } from '../audit/audit-line';
import { Causes } from '../dead-letters/causes';
import { VerdictMark } from '../figures/mark';
import { RelativeTime, useFormat } from '../figures/format';
import { Link, PlainLink } from '../frame/go';
import { outboxHref } from '../hrefs';
import classes from './fleet-news.module.css';

interface NewsProps {
  news: FleetNews;
  entries: readonly FleetLine[];
}

/** Below the lines, side by side, so that neither moves the other: why events died, and what changed in the last hour. */
export function News({ news: { groups, moreGroups, searched, atStake, actions, verdicts, changes: known }, entries }: NewsProps) {
  const words = useTranslations('fleet.news');
  const format = useFormat();
  const { complete, ...read } = searched;
  const names = new Map(entries.map(({ outbox }) => [outbox.id, outbox.name]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  const sum = atStake.sums.map(({ amount, currency }) => formatMoney(amount, currency, format.locale)).join(' + ');
  const changes: { key: string; at: string; text: ReactNode }[] = [
    ...actions.map((entry) => ({
      key: entry.id,
      at: entry.at,
      text: <AuditSentence entry={entry} outboxName={nameOf(entry.outbox ?? '')} brief />,
    })),
    ...verdicts.map(({ outbox, verdict, beganAt, endedAt }) => ({
      key: `${outbox} ${verdict} ${beganAt}`,
      at: endedAt ?? beganAt,
      text: words.rich('verdict', {
        change: endedAt === null ? 'began' : 'ended',
        verdict: () => <VerdictMark verdict={verdict} />,
        outbox: () => (
          <PlainLink href={outboxHref(outbox)}>
            <bdi>{nameOf(outbox)}</bdi>
          </PlainLink>
        ),
      }),
    })),
  ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return (
    <div className={classes.news}>
      <section aria-label={words('causes')}>
        <Title order={2} size="h4">
          {words('causes')}
        </Title>
        {groups.length > 0 ? (
          <Causes groups={groups} more={moreGroups} first={groups.length} nameOf={nameOf} />
        ) : (
          read.unread === 0 && <p className={classes.none}>{words(complete ? 'noneDead' : 'noCauses')}</p>
        )}
        {read.rows + read.outboxes + read.unread > 0 && <p className={classes.stake}>{words('searched', read)}</p>}
        {/* Below: it may take a second line. */}
        {sum !== '' && <p className={classes.stake}>{words(atStake.whole ? 'atStake' : 'atStakeAtLeast', { sum })}</p>}
      </section>
      <section aria-label={words('lastHour')}>
        <Title order={2} size="h4">
          {words('lastHour')}
        </Title>
        {changes.length > 0 && (
          <ul className={classes.changes}>
            {changes.map(({ key, at, text }) => (
              <li key={key}>
                <span>{text}</span>
                <span className={classes.when}>
                  <RelativeTime at={at} />
                </span>
              </li>
            ))}
          </ul>
        )}
        {(changes.length === 0 || known !== 'all') && (
          <p className={changes.length > 0 ? classes.stake : classes.none}>
            {words.rich('changes', { known, audit: (text) => <Link href="/audit">{text}</Link> })}
          </p>
        )}
      </section>
    </div>
  );
}
