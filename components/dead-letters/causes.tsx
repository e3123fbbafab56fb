import { useTranslations } from 'next-intl';
import { PlainLink } from '../frame/go';
import { Fragment, lazy, type ReactNode, Suspense, useState } from 'react';
import { VARIABLE } from '@/lib/shared/lists/cause';
import { groupFilter, type DeadLetterGroup } from '@/lib/shared/dead-letter-groups';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import { markKnown } from '@/lib/shared/text/format';
import { formatMoney } from '@/lib/shared/text/money';
import { visibleText } from '@/lib/shared/text/visible-text';
import { Figure, Hint } from '../figures/figure';
import { RelativeTime, useFormat } from '../figures/format';
import { TableHead } from '../frame/note';
import { outboxHref } from '../hrefs';
import { PlanButton } from '../interventions/plan-button';
import type { PlanChoice } from '../interventions/use-plan';
import type { CauseDetails } from './cause-panel';
import classes from './causes.module.css';

interface CausesProps {
  groups: readonly DeadLetterGroup[];
  /** Causes that are not among them. */
  more: number;
  /** Lines before the others are asked for. */
  first: number;
  /** The name of each one's outbox; null where all are of one. */
  nameOf: ((outbox: string) => string) | null;
  /** The plan of all events of a cause; null where they cannot be changed. */
  planOf?: (group: DeadLetterGroup) => PlanChoice | null;
  /** Left out: lines cannot be opened. */
  details?: CauseDetails;
}

const CausePanel = lazy(async () => ({ default: (await import('./cause-panel')).CausePanel }));

/** Null also where nothing could be seen of it. */
const errorOf = ({ error }: DeadLetterGroup): string | null => (error?.trim() === '' ? null : error);

const keyOf = ({ outbox, id }: DeadLetterGroup): string => `${outbox} ${id}`;

/** Dead events counted by cause, most first; a line leads to its rows, or opens. Lines change places only when a cause is new. */
export function Causes({ groups, more, first, nameOf, planOf, details }: CausesProps) {
  const t = useTranslations('deadLetters');
  const [opened, setOpened] = useState<readonly string[]>([]);
  const toggle = (key: string) => setOpened((keys) => (keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]));
  const format = useFormat();
  const [all, setAll] = useState(false);
  const keys = groups.map(keyOf);
  const [order, setOrder] = useState(keys);
  if (keys.some((key) => !order.includes(key))) setOrder(keys);
  const inOrder = groups.toSorted((a, b) => order.indexOf(keyOf(a)) - order.indexOf(keyOf(b)));
  const shown = all ? inOrder : inOrder.slice(0, first);
  const shownSum = ({ sums, summed, count }: DeadLetterGroup): ReactNode => {
    // Lines break between the currencies only, where there is room after every third one: a sum that grows moves no line.
    const money = sums.map(({ amount, currency }) => formatMoney(amount, currency, format.locale).replaceAll(' ', '\u00a0'));
    const text = money.map((one, at) => (at === 0 ? one : `\u00a0+${at % 3 === 0 ? '\n' : ' '}${one}`)).join('');
    return summed === count || text === '' ? text : <Hint reason={t('sumOf', { summed, count })}>{t('atLeast', { sum: text })}</Hint>;
  };
  const dated = groups.some(({ seen }) => seen === 'died');
  const cells: Partial<Record<'count' | 'cause' | 'type' | 'outbox' | 'sum' | 'lastSeen' | 'plan', (group: DeadLetterGroup) => ReactNode>> =
    {
      count: ({ count, known }) => <Figure text={format.number(count)} known={known} />,
      cause: (group) => (
        <>
          {details && (
            <button
              type="button"
              className={classes.open}
              aria-expanded={opened.includes(keyOf(group))}
              aria-label={t('details.show', { error: errorOf(group) ?? t('noError') })}
              onClick={() => toggle(keyOf(group))}
            />
          )}
          {group.newSince !== null && <span className={classes.new}>{t('new')}</span>}
          <PlainLink
            href={outboxHref(group.outbox, `/dead-letters?${serialiseEventFilter(groupFilter(group)).toString()}`)}
            title={group.error ?? undefined}
          >
            {errorOf(group) === null ? t('noError') : <Template text={group.error ?? ''} />}
          </PlainLink>
        </>
      ),
      type: ({ type }) => <bdi>{type === null ? t('noType') : visibleText(type)}</bdi>,
      ...(nameOf && { outbox: ({ outbox }) => <bdi>{nameOf(outbox)}</bdi> }),
      ...(groups.some(({ summed }) => summed > 0) && { sum: shownSum }),
      lastSeen: ({ lastSeenAt, seen }) => lastSeenAt !== null && t.rich('lastSeen', { seen, at: () => <RelativeTime at={lastSeenAt} /> }),
      ...(planOf && {
        plan: (group) => {
          const { count, known } = group;
          const shown = markKnown(format.number(count), known);
          const about = t('planAbout', { count, shown, error: errorOf(group) ?? t('noError') });
          const choice = planOf(group);
          return choice && <PlanButton {...choice} size="compact-xs" about={visibleText(about)} of={visibleText(about)} />;
        },
      }),
    };
  const columns = Object.entries(cells) as [keyof typeof cells, NonNullable<(typeof cells)['count']>][];
  return (
    <div className={classes.frame}>
      {/* Explicit roles: on a phone the table is laid out as cards, and browsers then drop them. */}
      <table role="table" className={classes.causes} aria-label={t('groups')}>
        <TableHead
          asCards
          columns={columns.map(([column]) => ({
            'data-column': column,
            children: t(`columns.${column === 'lastSeen' && !dated ? 'lastCreated' : column}`),
          }))}
        />
        <tbody role="rowgroup">
          {shown.map((group) => (
            <Fragment key={keyOf(group)}>
              <tr role="row">
                {columns.map(([column, content]) => (
                  <td role="cell" key={column} data-column={column}>
                    {content(group)}
                  </td>
                ))}
              </tr>
              {details && opened.includes(keyOf(group)) && (
                <tr role="row">
                  <td role="cell" colSpan={columns.length} data-column="details">
                    <Suspense fallback={null}>
                      <CausePanel group={group} details={details} />
                    </Suspense>
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
      {groups.length + more > shown.length && (
        <button type="button" className={classes.more} disabled={groups.length === shown.length} onClick={() => setAll(true)}>
          {t('moreGroups', { count: groups.length + more - shown.length })}
        </button>
      )}
    </div>
  );
}

/** The error, with the parts that differ between its rows in grey. */
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
