import { useTranslations } from 'next-intl';
import { groupFilter } from '@/lib/shared/dead-letter-groups';
import type { DeadLettersCard } from '@/lib/shared/embedding/cards';
import type { Count } from '@/lib/shared/figures/measured';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import { visibleText } from '@/lib/shared/text/visible-text';
import { CountText } from '../figures/figure';
import { RelativeTime } from '../figures/time';
import { useFormat } from '../figures/use-format';
import { outboxHref } from '../hrefs';
import classes from './card.module.css';
import { CardHead, listNames, Out, type CardProps } from './card-parts';

/** Known as its least exact part is; null if no outbox can say. */
function sumOf(counts: readonly Count[]): Count | null {
  const known = counts.filter(({ count }) => count !== null);
  const count = known.reduce((sum, one) => sum + (one.count ?? 0), 0);
  return known.length === 0 ? null : { count, known: known.find((one) => one.known !== 'exact')?.known ?? 'exact' };
}

/** Dead letters by cause, most first. */
export function DeadLettersView({ card: { asOf, outboxes, groups, moreGroups }, note }: CardProps<DeadLettersCard>) {
  const t = useTranslations('cards.dead-letters');
  const format = useFormat();
  const single = outboxes.length === 1 ? outboxes[0] : undefined;
  const href = single ? outboxHref(single.id, '/dead-letters') : '/dead-letters';
  const total = sumOf(outboxes.map(({ dead }) => dead));
  const names = new Map(outboxes.map(({ id, name }) => [id, name]));
  const notes = {
    notRead: outboxes.filter(({ dead }) => dead.count === null),
    old: outboxes.filter(({ dead, stale }) => dead.count !== null && stale !== null),
    newest: outboxes.filter(({ dead, complete }) => dead.count !== null && !complete),
  };
  return (
    <>
      <CardHead asOf={asOf} href={href} title={single ? t('of', { outbox: single.name }) : t('all')} note={note} />
      {total !== null && (
        <p className={total.count === 0 ? classes.sentence : classes.total}>
          {total.count !== 0 && <CountText large count={total} />}
          <span>{t(total.count === 0 ? 'none' : 'dead', { outboxes: outboxes.length - notes.notRead.length })}</span>
        </p>
      )}
      <ul className={classes.lines} aria-label={t('causes')}>
        {groups.map(({ outbox, type, error, count, seen, lastSeenAt }) => (
          <li key={JSON.stringify([outbox, type, error])} className={classes.cause}>
            <b>{format.number(count)}</b>
            <span className={classes.what}>
              <Out href={outboxHref(outbox, `/dead-letters?${serialiseEventFilter(groupFilter({ type, error })).toString()}`)}>
                {error === null ? t('noError') : visibleText(error)}
              </Out>
              <bdi className={classes.quiet}>
                {type === null ? t('noType') : visibleText(type)}
                {single === undefined && ` · ${names.get(outbox) ?? outbox}`}
              </bdi>
            </span>
            <span className={classes.when}>
              {lastSeenAt !== null && t.rich('last', { seen, at: () => <RelativeTime at={lastSeenAt} /> })}
            </span>
          </li>
        ))}
      </ul>
      <footer className={classes.foot}>
        {moreGroups > 0 && <Out href={href}>{t('more', { count: moreGroups })}</Out>}
        {(['notRead', 'old', 'newest'] as const).map(
          (kind) => notes[kind].length > 0 && <p key={kind}>{t(kind, { outboxes: listNames(notes[kind].map(({ name }) => name)) })}</p>,
        )}
      </footer>
    </>
  );
}
