import { Code } from '@mantine/core';
import { IconBell, IconBellOff } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { PlainLink } from '../frame/go';
import type { Examination, Finding, Silence, TableReport } from '@/lib/shared/doctor';
import { findingFacts, findingLines, unseenText, valueText } from '@/lib/shared/doctor-text';
import type { ActionResult } from '@/lib/shared/problems';
import { visibleText } from '@/lib/shared/text/visible-text';
import { SeverityMark } from '../figures/mark';
import { RelativeTime } from '../figures/format';
import { doctorHref } from '../hrefs';
import { FactList, TableHead } from '../frame/note';
import { CopyText, TextButton } from '../frame/controls';
import { ReasonPopover } from '../frame/reason-popover';
import { useChange } from '../frame/use-change';
import { useReader } from './doctor-line';
import classes from './doctor.module.css';

interface SilenceActions {
  put: (input: { outbox: string; finding: string; reason: string }) => Promise<ActionResult<Silence>>;
  lift: (input: { outbox: string; finding: string }) => Promise<ActionResult<Silence>>;
}

export interface FindingCardProps {
  finding: Finding;
  outbox: { id: string; name: string };
  named: boolean;
  /** null if the viewer may not silence. */
  silence: SilenceActions | null;
  onChanged: () => Promise<void>;
}

export function FindingCard({ finding, outbox, named, silence, onChanged }: FindingCardProps) {
  const words = useTranslations('doctor');
  const reader = useReader();
  const { what, why } = findingLines(finding, reader);
  const facts = findingFacts(finding, reader);
  const about = { outbox: outbox.id, finding: finding.id };
  const lifting = useChange((actions: SilenceActions) => actions.lift(about), { onDone: onChanged, onGone: onChanged });
  return (
    <li className={classes.card} data-severity={finding.severity} data-silenced={finding.silence !== null || undefined}>
      <div className={classes.cardHead}>
        <SeverityMark severity={finding.severity} />
        <h3 className={classes.what}>{what}</h3>
        {named && (
          <PlainLink href={doctorHref(outbox.id)} className={classes.outbox}>
            <bdi>{outbox.name}</bdi>
          </PlainLink>
        )}
      </div>
      {why !== '' && <p className={classes.why}>{why}</p>}
      {facts.length > 0 && <FactList className={classes.facts} facts={facts} />}
      {finding.cure !== null && <Cure sql={finding.cure} />}
      {finding.silence !== null && (
        <p className={classes.silence}>
          {words.rich('silence.by', { actor: finding.silence.actor, ago: () => <RelativeTime at={finding.silence?.at ?? ''} /> })}
          {': '}
          <q>
            <bdi>{visibleText(finding.silence.reason)}</bdi>
          </q>
        </p>
      )}
      {silence !== null && (
        <div className={classes.buttons}>
          {finding.silence === null ? (
            <ReasonPopover
              label={words('silence.button')}
              leftSection={<IconBellOff size={14} aria-hidden />}
              size="compact-xs"
              title={words('silence.title')}
              reasonLabel={words('silence.reason')}
              reasonHint={words('silence.reasonHint')}
              confirm={words('silence.confirm')}
              send={(reason) => silence.put({ ...about, reason })}
              onDone={onChanged}
            />
          ) : (
            <TextButton
              size="compact-xs"
              variant="default"
              icon={IconBell}
              loading={lifting.sending}
              onClick={() => lifting.send(silence)}
              label={words('silence.lift')}
            />
          )}
          {lifting.problemText !== null && (
            <p className={classes.wrong} role="alert">
              {lifting.problemText}
            </p>
          )}
        </div>
      )}
    </li>
  );
}

function Cure({ sql }: { sql: string }) {
  const words = useTranslations('doctor');
  return (
    <div className={classes.cure}>
      <Code block tabIndex={0} aria-label={words('cure')}>
        {sql}
      </Code>
      <CopyText text={sql} label={useTranslations('frame')('copySql')} />
    </div>
  );
}

export function TablesSection({ examination: { tables, statisticsSince, unseen } }: { examination: Examination }) {
  const words = useTranslations('doctor');
  const reader = useReader();
  return (
    <>
      {tables.length > 0 && (
        <section className={classes.section}>
          <h2>{words('tables')}</h2>
          {tables.map((report) => (
            <TableBlock key={report.table} report={report} />
          ))}
          <p className={classes.quiet}>
            {statisticsSince === null ? words('scansEver') : words('scansSince', { at: valueText('at', statisticsSince, reader) ?? '' })}
          </p>
        </section>
      )}
      {unseen.length > 0 && (
        <section className={classes.section}>
          <h2>{words('unseenTitle')}</h2>
          {unseen.map((one) => (
            <div key={one.code} className={classes.unseen}>
              <p>{unseenText(one, reader)}</p>
              {one.cure !== null && <Cure sql={one.cure} />}
            </div>
          ))}
        </section>
      )}
    </>
  );
}

function TableBlock({ report }: { report: TableReport }) {
  const { table, rows, tableBytes, indexBytes, growthBytesPerDay, writesPerSecond, hotShare, indexes } = report;
  const words = useTranslations('doctor');
  const reader = useReader();
  const text = (name: string, value: number | null): string => valueText(name, value, reader) ?? words('notCounted');
  const facts = [
    rows === null ? null : words('tableRows', { rows: text('rows', rows) }),
    text('bytes', tableBytes + indexBytes),
    growthBytesPerDay === null ? null : words('tableGrowth', { growth: text('bytes', growthBytesPerDay) }),
    writesPerSecond === null ? null : words('tableWrites', { writes: text('writesPerSecond', writesPerSecond) }),
    hotShare === null ? null : words('hot', { share: text('hotShare', hotShare) }),
  ].filter((fact) => fact !== null);
  const columns = ['name', 'size', 'entries', 'scans', 'definition'] as const;
  return (
    <div className={classes.table}>
      <h3>
        <code>{table}</code> <span className={classes.quiet}>{facts.join(' · ')}</span>
      </h3>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label={table}>
        <table>
          <TableHead columns={columns.map((column) => ({ 'data-column': column, children: words(`columns.${column}`) }))} />
          <tbody>
            {indexes.map(({ name, definition, bytes, entries, scans, valid }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                  {!valid && <span className={classes.invalid}> {words('invalid')}</span>}
                </th>
                <td data-column="size">{text('bytes', bytes)}</td>
                <td data-column="entries">{text('entries', entries)}</td>
                <td data-column="scans">{text('scans', scans)}</td>
                <td data-column="definition">
                  <code>{definition}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
