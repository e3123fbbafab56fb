import { useTranslations } from 'next-intl';
import { useState, type ReactNode } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { groupFilter } from '@/lib/shared/dead-letter-groups';
import type { CardEvent, DeadLettersCard, FateCard, FleetCard, OutboxCard } from '@/lib/shared/embedding/cards';
import type { FleetLine } from '@/lib/shared/figures/fleet';
import type { Count } from '@/lib/shared/figures/measured';
import { WINDOW_SECONDS } from '@/lib/shared/figures/windows';
import { serialiseEventFilter } from '@/lib/shared/lists/event-filter';
import { formatTick } from '@/lib/shared/text/format';
import { visibleText } from '@/lib/shared/text/visible-text';
import { Sparkline } from '../charts/sparkline';
import { CountText, Figure, isMeanOnly, Mean, Percentile } from '../figures/figure';
import { FateMark, VerdictMark } from '../figures/mark';
import { RelativeTime, Since, useFormat, useIsStale } from '../figures/format';
import { useWhyOpen } from '../find/use-why-open';
import { eventHref, findHref, outboxHref } from '../hrefs';
import { VerdictSentence } from '../outbox/use-verdict-sentence';
import classes from './card.module.css';

/** `note`: why the figures of the card are not the newest, if so. */
type CardProps<C> = { card: C; note: ReactNode };

/** A page of the console in a window of its own: there one signs in and acts. */
export function Out({ href, children }: { href: string; children: ReactNode }) {
  const opens = useTranslations('cards.frame')('opens');
  return (
    <a href={`${BASE_PATH}${href}`} target="_blank" rel="noopener noreferrer" title={opens}>
      <bdi>{children}</bdi>
    </a>
  );
}

/** The name of a card, which leads to where one goes on, and the time of its figures. */
function CardHead({ asOf, href, title, note }: { asOf: string; href: string; title: string; note: ReactNode }) {
  const format = useFormat();
  const words = useTranslations('cards.frame');
  return (
    <header className={classes.head}>
      <h1 id="title">
        <Out href={href}>{title}</Out>
      </h1>
      <time dateTime={asOf}>{words('asOf', { clock: format.clock(asOf), zone: format.timeZone })}</time>
      {note}
    </header>
  );
}

const NAMES_MAX = 5;
/** "escrow, billing, +12". */
const listNames = (names: readonly string[]): string =>
  [...names.slice(0, NAMES_MAX), ...(names.length > NAMES_MAX ? [`+${names.length - NAMES_MAX}`] : [])].join(', ');

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
    notKept: outboxes.filter(({ dead }) => dead.why === 'not_in_schema'),
    notRead: outboxes.filter(({ dead }) => dead.count === null && dead.why !== 'not_in_schema'),
    old: outboxes.filter(({ dead, stale }) => dead.count !== null && stale !== null),
    newest: outboxes.filter(({ dead, complete }) => dead.count !== null && !complete),
  };
  return (
    <>
      <CardHead asOf={asOf} href={href} title={single ? t('of', { outbox: single.name }) : t('all')} note={note} />
      {total !== null && (
        <p className={total.count === 0 ? classes.sentence : classes.total}>
          {total.count !== 0 && <CountText large count={total} />}
          <span>{t(total.count === 0 ? 'none' : 'dead', { outboxes: outboxes.length - notes.notKept.length - notes.notRead.length })}</span>
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
        {(['notKept', 'notRead', 'old', 'newest'] as const).map(
          (kind) => notes[kind].length > 0 && <p key={kind}>{t(kind, { outboxes: listNames(notes[kind].map(({ name }) => name)) })}</p>,
        )}
      </footer>
    </>
  );
}

/** Lines before the others are asked for. */
const FIRST = 8;
/** Of an error: enough to know it, and a card stays a card. */
const ERROR_CHARACTERS = 200;

/** When the last thing that is known happened to an event. */
const lastAt = ({ diedAt, publishedAt, lastAttemptAt, createdAt }: CardEvent): string =>
  diedAt ?? publishedAt ?? lastAttemptAt ?? createdAt ?? '';

/** Of all outboxes: what needs somebody first, then the newest. */
function timeline(outboxes: FateCard['outboxes']): (CardEvent & { outbox: string })[] {
  const needs = ({ fate }: CardEvent): boolean => fate === 'dead' || fate === 'stuck';
  return outboxes
    .flatMap(({ outbox, events }) => events.map((event) => ({ ...event, outbox })))
    .sort((a, b) => Number(needs(b)) - Number(needs(a)) || lastAt(b).localeCompare(lastAt(a)));
}

/** What became of a key: in a sentence, event by event, and what is not known. */
export function FateView({ card, note }: CardProps<FateCard>) {
  const t = useTranslations('cards.fate');
  const says = useTranslations('find.says');
  const [all, setAll] = useState(false);
  const { asOf, key, fate, outboxes, names } = card;
  const events = timeline(outboxes);
  const shown = all ? events : events.slice(0, FIRST);
  const count = events.filter((event) => event.fate === fate).length;
  return (
    <>
      <CardHead asOf={asOf} href={findHref(key)} title={visibleText(key)} note={note} />
      <p className={classes.sentence}>
        <FateMark fate={fate} />
        <span>{says(fate, { count, total: events.length })}</span>
      </p>
      <ul className={classes.lines} aria-label={t('events')}>
        {shown.map((event) => (
          <li key={`${event.outbox} ${event.id}`} className={classes.event}>
            <FateMark fate={event.fate} />
            <span className={classes.what}>
              <Out href={eventHref(event.outbox, event.id)}>{visibleText(event.type ?? event.id)}</Out>{' '}
              <bdi className={classes.quiet}>{names[event.outbox] ?? event.outbox}</bdi>
              {event.fate !== 'out' && <bdi className={classes.error}>{visibleText(event.error ?? '').slice(0, ERROR_CHARACTERS)}</bdi>}
            </span>
            <span className={classes.when}>{lastAt(event) !== '' && <RelativeTime at={lastAt(event)} />}</span>
          </li>
        ))}
      </ul>
      {events.length > shown.length && (
        <button type="button" className={classes.more} onClick={() => setAll(true)}>
          {t('rest', { count: events.length - shown.length })}
        </button>
      )}
      <Unknown card={card} />
    </>
  );
}

/** Where was looked, and what may be missing: each reason once, with the outboxes it is about. */
function Unknown({ card: { outboxes, names } }: { card: FateCard }) {
  const t = useTranslations('cards.fate');
  const whyOpen = useWhyOpen();
  const reasons = new Map<string, string[]>();
  for (const part of outboxes) {
    const said = [...whyOpen(part), ...(part.more ? [t('more')] : [])].join('. ');
    if (said !== '') reasons.set(said, [...(reasons.get(said) ?? []), names[part.outbox] ?? part.outbox]);
  }
  return (
    <footer className={classes.foot}>
      <p>{t('looked', { count: outboxes.length })}</p>
      {[...reasons].map(([reason, where]) => (
        <p key={reason}>
          <b>{listNames(where)}:</b> {reason}
        </p>
      ))}
    </footer>
  );
}

/** An outbox's health: its verdict, four figures and what waited. */
export function OutboxView({ card, note }: CardProps<OutboxCard>) {
  const t = useTranslations('cards.outbox');
  const format = useFormat();
  const { outbox, summary, stale } = card.line;
  const { depth, oldestPendingAt, latency } = summary;
  const window = format.age(WINDOW_SECONDS[card.window] * 1_000);
  const noOldest = depth.waiting.count === 0 ? t('none') : <Figure text={null} why={depth.waiting.why ?? 'no_created_at'} />;
  const tiles = {
    waiting: <CountText count={depth.waiting} />,
    oldest: oldestPendingAt === null ? noOldest : <Since at={oldestPendingAt} />,
    dead: <CountText count={depth.dead} />,
    p95: isMeanOnly(latency) ? <Mean named of={latency} /> : <Percentile ms={latency.p95Ms} of={latency} />,
  };
  return (
    <>
      <CardHead asOf={stale?.since ?? card.asOf} href={outboxHref(outbox.id)} title={outbox.name} note={note} />
      <p className={classes.sentence}>
        <VerdictMark verdict={summary.diagnosis.verdict} />
        <span>
          <VerdictSentence summary={summary} />
        </span>
      </p>
      <dl className={classes.tiles}>
        {(['waiting', 'oldest', 'dead', 'p95'] as const).map((name) => (
          <div key={name}>
            <dt>{t(name, { window })}</dt>
            <dd>{tiles[name]}</dd>
          </div>
        ))}
      </dl>
      <DepthChart card={card} window={window} />
    </>
  );
}

/** What waited over the window, from zero to the most; what nobody saw is a gap. */
function DepthChart({ card: { points, stepSeconds }, window }: { card: OutboxCard; window: string }) {
  const t = useTranslations('cards.outbox');
  const { locale, timeZone: zone, number } = useFormat();
  const values = points.map(({ waiting, gap }) => (gap ? null : waiting));
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return <p className={classes.quiet}>{t('noChart', { window })}</p>;
  const tick = (step: number): string =>
    formatTick(Date.parse(points[0]?.at ?? '') + step * stepSeconds * 1_000, locale, zone, points.length * stepSeconds + 1);
  const [from, to] = [tick(0), tick(points.length)];
  return (
    <figure className={classes.chart}>
      <figcaption>{t('chartTitle', { window })}</figcaption>
      <span aria-hidden>{number(Math.max(1, ...known))}</span>
      <Sparkline values={values} say={(figures) => t('chart', { ...figures, from, to, zone })} />
      <span aria-hidden>{number(0)}</span>
      <span aria-hidden className={classes.times}>
        <span>{from}</span> <span>{`${to} ${zone}`}</span>
      </span>
    </figure>
  );
}

/** With more outboxes than this, the healthy ones are one line. */
const ALL_MAX = 12;

/** Every outbox in a line, worst first. */
export function FleetView({ card: { asOf, everyMs, lines }, note }: CardProps<FleetCard>) {
  const t = useTranslations('cards.fleet');
  const needing = lines.filter(({ unread, summary }) => !unread && summary.diagnosis.verdict !== 'healthy');
  const unread = lines.filter((line) => line.unread);
  const shown = lines.length > ALL_MAX ? lines.filter((line) => line.unread || line.stale !== null || needing.includes(line)) : lines;
  return (
    <>
      <CardHead asOf={asOf} href="/" title={t('title')} note={note} />
      <p className={classes.total}>{t('needing', { needing: needing.length, unread: unread.length, total: lines.length })}</p>
      <ul className={classes.lines} aria-label={t('outboxes')}>
        {shown.map((line) => (
          <Outbox key={line.outbox.id} line={line} everyMs={everyMs} />
        ))}
      </ul>
      {shown.length > 0 && lines.length > shown.length && (
        <p className={classes.foot}>{t('healthy', { count: lines.length - shown.length })}</p>
      )}
    </>
  );
}

function Outbox({ line: { outbox, summary, stale, unread }, everyMs }: { line: FleetLine; everyMs: number }) {
  const t = useTranslations('cards.fleet');
  const format = useFormat();
  const old = useIsStale(summary.asOf, everyMs) || stale !== null;
  const { waiting, dead } = summary.depth;
  return (
    <li className={classes.outbox} data-old={old}>
      <span className={classes.what}>
        <Out href={outboxHref(outbox.id)}>{outbox.name}</Out>
        {!unread && <VerdictMark verdict={summary.diagnosis.verdict} />}
      </span>
      <span>
        {unread ? t('unread') : <VerdictSentence summary={summary} />}
        {old && !unread && <span className={classes.quiet}> · {t('old', { clock: format.clock(stale?.since ?? summary.asOf) })}</span>}
      </span>
      {!unread && (
        <span className={classes.counts}>
          <span>{waiting.count !== null && t.rich('waiting', { count: () => <CountText count={waiting} /> })}</span>
          <span>{dead.count !== null && t.rich('dead', { count: () => <CountText count={dead} /> })}</span>
        </span>
      )}
    </li>
  );
}
