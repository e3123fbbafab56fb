import { useTranslations } from 'next-intl';
import { type Found, type FoundIn, leftOpen } from '@/lib/shared/lists/found';
import type { ActionResult } from '@/lib/shared/problems';
import { FateMark } from '../figures/mark';
import { AbsoluteTime } from '../figures/time';
import { useOutboxName } from '../frame/console';
import { usePolledSnapshot } from '../frame/live';
import { TextLink } from '../frame/popovers';
import { eventHref, outboxHref } from '../hrefs';
import { type FoundLine, linesOf } from './lines';
import { useWhyOpen } from './use-why-open';
import classes from './find.module.css';

interface FoundKeyProps {
  initial: Found;
  load: (input: { key: string }) => Promise<ActionResult<Found>>;
}

export function FoundKey({ initial, load }: FoundKeyProps) {
  const t = useTranslations('find');
  const { key } = initial;
  const { snapshot } = usePolledSnapshot<Found>({ key: ['find', key], action: () => load({ key }), initial });
  const { fate, outboxes } = snapshot;
  const lines = linesOf(outboxes);
  const fates = outboxes.flatMap(({ events }) => events.map((event) => event.fate));
  const having = outboxes.filter(({ events }) => events.length > 0).length;
  return (
    <>
      <section className={classes.fate} data-fate={fate} role="status" aria-label={t('title')}>
        <FateMark fate={fate} />
        <p className={classes.says}>{t(`says.${fate}`, { count: fates.filter((one) => one === fate).length, total: fates.length })}</p>
        <p className={classes.dimmed}>
          <bdi className={classes.mono}>{key}</bdi> {t('count', { events: fates.length, outboxes: having, all: outboxes.length })}
        </p>
      </section>
      {lines.length > 0 && (
        <section className={classes.frame} aria-labelledby="find-timeline">
          <h2 id="find-timeline" className={classes.heading}>
            {t('timeline')}
          </h2>
          <ol className={classes.lines}>
            {lines.map((line) => (
              <Line key={`${line.outbox} ${line.event.id} ${line.kind}`} {...line} />
            ))}
          </ol>
        </section>
      )}
      <Outboxes outboxes={outboxes} search={key} />
    </>
  );
}

function Line({ outbox, event, kind, at, isLast }: FoundLine) {
  const t = useTranslations('find');
  const outboxName = useOutboxName();
  return (
    <li data-kind={kind}>
      <span className={classes.when}>{at === null ? t('noTime') : <AbsoluteTime at={at} />}</span>
      <span className={classes.what}>
        <TextLink href={eventHref(outbox, event.id)} prefetch={false} size="sm" label={<bdi>{event.type ?? event.id}</bdi>} />{' '}
        {t(`line.${kind}`, { attempts: event.attempts ?? 0 })}
        <span className={classes.dimmed}> · {outboxName(outbox)}</span>
      </span>
      {isLast && <FateMark fate={event.fate} />}
    </li>
  );
}

/** Each outbox with something to say; the others, which were searched and have no such event, in one line. */
function Outboxes({ outboxes, search }: { outboxes: FoundIn[]; search: string }) {
  const t = useTranslations('find');
  const outboxName = useOutboxName();
  const told = outboxes.filter((part) => part.events.length > 0 || part.why !== null || leftOpen(part) !== null);
  const others = outboxes.filter((part) => !told.includes(part));
  return (
    <section className={classes.frame} aria-labelledby="find-outboxes">
      <h2 id="find-outboxes" className={classes.heading}>
        {t('outboxes')}
      </h2>
      <ul className={classes.parts}>
        {told.map((part) => (
          <li key={part.outbox} data-open={leftOpen(part) ?? undefined}>
            <TextLink href={outboxHref(part.outbox)} prefetch={false} size="sm" fw={600} label={outboxName(part.outbox)} />
            <span>
              <Told part={part} search={search} />
            </span>
          </li>
        ))}
        {others.length > 0 && (
          <li>
            <span className={classes.dimmed}>{t('others', { count: others.length, all: told.length === 0 ? 'yes' : 'no' })}</span>
            <span className={classes.dimmed}>{others.map(({ outbox }) => outboxName(outbox)).join(', ')}</span>
          </li>
        )}
      </ul>
    </section>
  );
}

function Told({ part, search }: { part: FoundIn; search: string }) {
  const t = useTranslations('find');
  const whyOpen = useWhyOpen();
  const { outbox, events, more } = part;
  const sentences = [...(events.length > 0 ? [t('events', { count: events.length, more: more ? 'yes' : 'no' })] : []), ...whyOpen(part)];
  return (
    <>
      {sentences.map((sentence) => `${sentence}.`).join(' ')}
      {more && (
        <>
          {' '}
          <TextLink
            href={outboxHref(outbox, `/events?${new URLSearchParams({ q: search }).toString()}`)}
            prefetch={false}
            size="sm"
            label={t('list')}
          />
        </>
      )}
    </>
  );
}
