import { Button, CloseButton, Loader } from '@mantine/core';
import { useTranslations } from 'next-intl';
import { formatAmount, sumAmounts } from '@/lib/shared/text/money';
import { TICKED_EVENTS_MAX, type OutboxInfo } from '@/lib/shared/model';
import { useFormat } from '../figures/use-format';
import { useMay } from '../frame/console';
import { operationChoices, useObstacleText, useOperationName } from '../interventions/operations';
import type { Intervention } from '../interventions/use-intervention';
import type { Ticks } from './use-ticks';
import type { Taking } from './take-list';
import classes from './selection-bar.module.css';

interface SelectionBarProps {
  outbox: OutboxInfo;
  ticks: Ticks;
  intervention: Intervention;
  /** Ticks the whole list; null where there is no more of it. */
  onWhole: (() => void) | null;
}

/** Rises when rows are ticked: how many, how much money, what can be done with them, and why the rest cannot. */
export function SelectionBar({ outbox, ticks: { events, extent, full, clear }, intervention, onWhole }: SelectionBarProps) {
  const mayOperate = useMay('event:operate');
  const t = useTranslations('events.selection');
  const name = useOperationName();
  const obstacleText = useObstacleText();
  const format = useFormat();
  const choices = operationChoices(outbox, events, mayOperate);
  const possible = choices.filter(({ obstacle }) => obstacle === null);
  const impossible = choices.flatMap(({ operation, obstacle }) => (obstacle === null ? [] : [{ operation, text: obstacleText(obstacle) }]));
  // One reason for all, such as a role or a read-only outbox, is said once.
  const shared = possible.length === 0 && new Set(impossible.map(({ text }) => text)).size === 1 ? impossible[0]?.text : undefined;
  const sums = sumAmounts(events).map(
    ({ amount, currency }) => `${formatAmount(amount, format.locale)}${currency === null ? '' : ` ${currency}`}`,
  );
  return (
    <section className={classes.bar} aria-label={t('label')}>
      <div className={classes.count}>
        <strong role="status">{t('count', { count: events.length })}</strong>
        {sums.length > 0 && <span className={classes.sum}>{t('sum', { sums: sums.join(' + ') })}</span>}
        {extent !== null && <span className={extent === 'whole' ? classes.sum : classes.full}>{t(`extent.${extent}`)}</span>}
        {full && <span className={classes.full}>{t('full', { max: TICKED_EVENTS_MAX })}</span>}
        {onWhole !== null && extent === null && (
          <Button size="compact-sm" variant="subtle" onClick={onWhole}>
            {t('whole')}
          </Button>
        )}
      </div>
      <div className={classes.operations}>
        {possible.map(({ operation, allowed }) => (
          <Button
            key={operation}
            size="compact-md"
            variant={operation === 'archive' ? 'default' : 'filled'}
            onClick={() =>
              intervention.open(
                outbox,
                operation,
                events.map(({ id, version }) => ({ id, version })),
              )
            }
          >
            {allowed === events.length ? name(operation) : t('some', { operation: name(operation), allowed, count: events.length })}
          </Button>
        ))}
      </div>
      {shared !== undefined ? (
        <p className={classes.why}>{shared}</p>
      ) : (
        impossible.length > 0 && (
          <ul className={classes.why}>
            {impossible.map(({ operation, text }) => (
              <li key={operation}>{t('not', { operation: name(operation), why: text })}</li>
            ))}
          </ul>
        )
      )}
      <CloseButton className={classes.clear} onClick={clear} aria-label={t('clear')} />
    </section>
  );
}

/** The bar while a list is read to be ticked as a whole, when nothing was found, and when that failed. */
export function TakingBar({ taking, onCancel }: { taking: Taking; onCancel: () => void }) {
  const t = useTranslations();
  const text = (): string => {
    if (taking.phase === 'reading') return t('events.selection.reading', { count: taking.count });
    if (taking.phase === 'nothing') return t(`events.selection.nothing.${taking.whole ? 'whole' : 'found'}`);
    return t(`problems.${taking.problem.code}`);
  };
  return (
    <section className={classes.bar} aria-label={t('events.selection.label')}>
      <p className={classes.taking} role="status">
        {taking.phase === 'reading' && <Loader size={14} type="dots" aria-hidden />}
        {text()}
      </p>
      <CloseButton
        className={classes.clear}
        onClick={onCancel}
        aria-label={t(taking.phase === 'reading' ? 'interventions.cancel' : 'interventions.close')}
      />
    </section>
  );
}
