import { Title } from '@mantine/core';
import { useTranslations } from 'next-intl';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { FleetNews } from '@/lib/shared/doctor';
import { formatMoney } from '@/lib/shared/text/money';
import { AuditSentence } from '../audit/audit-line';
import { Causes } from '../dead-letters/causes';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import classes from './fleet-news.module.css';

/** Below the lines: causes over all outboxes, what is at stake, and who did what in the last hour. */
export function News({ news: { groups, moreGroups, atStake, actions }, entries }: { news: FleetNews; entries: readonly FleetLine[] }) {
  const words = useTranslations('fleet.news');
  const format = useFormat();
  const names = new Map(entries.map(({ outbox }) => [outbox.id, outbox.name]));
  const nameOf = (id: string): string => names.get(id) ?? id;
  const sum = atStake.sums.map(({ amount, currency }) => formatMoney(amount, currency, format.locale)).join(' + ');
  return (
    <>
      {groups.length > 0 && (
        <section className={classes.part} aria-label={words('causes')}>
          <Title order={2} size="h4">
            {words('causes')}
          </Title>
          {sum !== '' && <p className={classes.line}>{words(atStake.whole ? 'atStake' : 'atStakeAtLeast', { sum })}</p>}
          <Causes groups={groups} more={moreGroups} first={groups.length} nameOf={nameOf} />
        </section>
      )}
      {actions.length > 0 && (
        <section className={classes.part} aria-label={words('lastHour')}>
          <Title order={2} size="h4">
            {words('lastHour')}
          </Title>
          <ul className={classes.actions}>
            {actions.map((entry) => (
              <li key={entry.id}>
                <AuditSentence entry={entry} outboxName={nameOf(entry.outbox ?? '')} brief />{' '}
                <span className={classes.line}>
                  <RelativeTime at={entry.at} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
