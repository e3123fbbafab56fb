'use client';

import { useTransition } from 'react';
import { usePathname } from 'next/navigation';
import { Button, Title } from '@mantine/core';
import { IconCircleCheck, IconDownload, IconStethoscope } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { BASE_PATH } from '@/lib/shared/base-path';
import { SEVERITIES, type DoctorSnapshot, type Examination, type Severity } from '@/lib/shared/doctor';
import type { ActionResult } from '@/lib/shared/problems';
import { useFormat, useTicking } from '../figures/format';
import { useConsole } from '../frame/console';
import { Float, MenuItem, useFloat } from '../frame/float';
import { VerdictMark } from '../figures/mark';
import { useGo } from '../frame/go';
import { Note } from '../frame/note';
import { ChoiceBar, Select, TextLink } from '../frame/controls';
import { outboxHref } from '../hrefs';
import { useChange } from '../frame/use-change';
import { usePolledSnapshot } from '../frame/live';
import { FindingCard, type FindingCardProps, TablesSection } from './finding-card';
import classes from './doctor.module.css';

const SHOWN = 100;

interface DoctorScreenProps extends Pick<FindingCardProps, 'silence'> {
  /** One outbox; all if left out. */
  outbox: string | undefined;
  severity: Severity | undefined;
  initial: DoctorSnapshot;
  load: (input: { outbox?: string }) => Promise<ActionResult<DoctorSnapshot>>;
  examine: (input: { outbox: string | null }) => Promise<ActionResult<DoctorSnapshot>>;
}

type Placed = Pick<FindingCardProps, 'finding' | 'outbox'>;

export function DoctorScreen({ outbox, severity, initial, load, examine, silence }: DoctorScreenProps) {
  const words = useTranslations('doctor');
  const { snapshot, refresh } = usePolledSnapshot<DoctorSnapshot>({
    key: ['doctor', outbox ?? null],
    action: () => load(outbox === undefined ? {} : { outbox }),
    initial,
  });
  const examining = useChange(examine, { onDone: refresh });
  const { examinations, waiting, verdicts = {} } = snapshot;
  const nameOf = (id: string) => examinations.find((one) => one.outbox === id)?.name ?? id;
  const ill = Object.entries(verdicts);
  const placed: Placed[] = examinations
    .flatMap(({ outbox: id, name, findings }) => findings.map((finding) => ({ finding, outbox: { id, name } })))
    .sort((a, b) => SEVERITIES.indexOf(a.finding.severity) - SEVERITIES.indexOf(b.finding.severity));
  const open = placed.filter(({ finding }) => finding.silence === null);
  const silenced = placed.filter(({ finding }) => finding.silence !== null);
  const chosen = open.filter(({ finding }) => severity === undefined || finding.severity === severity);
  const act = open.filter(({ finding }) => finding.severity === 'act').length;
  const single = outbox === undefined ? undefined : examinations[0];
  const named = outbox === undefined;
  const list = (findings: readonly Placed[]) => (
    <ol className={classes.list}>
      {findings.map((one) => (
        <FindingCard key={`${one.outbox.id} ${one.finding.id}`} {...one} named={named} silence={silence} onChanged={refresh} />
      ))}
    </ol>
  );
  return (
    <div className={classes.screen}>
      <header className={classes.head}>
        <div>
          <Title order={1}>
            {words('lead', { findings: open.length, outboxes: examinations.length })}
            {act > 0 && <span className={classes.act}> · {words('leadAct', { act })}</span>}
          </Title>
          {ill.length > 0 && (
            <p className={classes.ill}>
              {words('ill', { found: open.length, all: outbox === undefined ? 'yes' : 'no' })}
              {ill.map(([id, verdict]) => (
                <span key={id}>
                  <VerdictMark verdict={verdict} />{' '}
                  <TextLink href={outboxHref(id)} inherit label={outbox === undefined ? nameOf(id) : words('open')} />
                </span>
              ))}
            </p>
          )}
          <p className={classes.intro}>{words('intro')}</p>
        </div>
        <div className={classes.tools}>
          <ExportMenu outbox={outbox} />
          <Button
            size="xs"
            leftSection={<IconStethoscope size={16} aria-hidden />}
            loading={examining.sending}
            onClick={() => examining.send({ outbox: outbox ?? null })}
          >
            {words('examineNow')}
          </Button>
        </div>
      </header>
      {examining.problemText !== null && (
        <p className={classes.wrong} role="alert">
          {examining.problemText}
        </p>
      )}
      <Filters outbox={outbox} severity={severity} open={open} />
      {waiting.length > 0 && <Note status>{words('waiting', { count: waiting.length })}</Note>}
      {examinations
        .filter(({ problem }) => problem !== null)
        .map((one) => (
          <Note key={one.outbox} dashed>
            <strong>{one.name}</strong> {words(`problems.${one.problem ?? 'unavailable'}`)}
          </Note>
        ))}
      {single !== undefined && single.problem === null && <Examined examination={single} />}
      {chosen.length > 0
        ? list(chosen.slice(0, SHOWN))
        : examinations.some(({ problem }) => problem === null) && (
            <div className={classes.empty}>
              <IconCircleCheck size={24} stroke={1.5} aria-hidden />
              <p>{words(open.length === 0 ? 'healthyText' : 'noneOfKind', { outboxes: examinations.length })}</p>
            </div>
          )}
      {chosen.length > SHOWN && <Note>{words('more', { count: chosen.length - SHOWN })}</Note>}
      {silenced.length > 0 && (
        <details className={classes.silenced}>
          <summary>{words('silenced', { count: silenced.length })}</summary>
          {list(silenced)}
        </details>
      )}
      {single !== undefined && <TablesSection examination={single} />}
    </div>
  );
}

function Examined({ examination: { at, tookMs, database, table } }: { examination: Examination }) {
  const words = useTranslations('doctor');
  const format = useFormat();
  const ago = useTicking((now) => format.relative(at, now));
  return (
    <p className={classes.quiet}>
      {database} · <code>{table}</code> · {words('examined', { ago, took: format.latency(tookMs) })}
    </p>
  );
}

function ExportMenu({ outbox }: { outbox: string | undefined }) {
  const words = useTranslations('doctor');
  const href = (format: string): string =>
    `${BASE_PATH}/api/v1/doctor?${new URLSearchParams({ ...(outbox === undefined ? {} : { outbox }), format }).toString()}`;
  const { button, float, close } = useFloat('menu');
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconDownload size={16} aria-hidden />} {...button}>
        {words('export')}
      </Button>
      {float && (
        <Float {...float} label={words('export')} side="end" width={160}>
          {(['markdown', 'csv', 'json'] as const).map((format) => (
            <MenuItem key={format} href={href(format)} download={`doctor.${format === 'markdown' ? 'md' : format}`} onClick={close}>
              {words(`exports.${format}`)}
            </MenuItem>
          ))}
        </Float>
      )}
    </>
  );
}

function Filters({ outbox, severity, open }: Pick<DoctorScreenProps, 'outbox' | 'severity'> & { open: readonly Placed[] }) {
  const words = useTranslations('doctor');
  const { outboxes } = useConsole();
  const { go } = useGo();
  const pathname = usePathname();
  const [pending, start] = useTransition();
  const show = (next: { outbox: string; severity: string }) => {
    const params = new URLSearchParams(Object.entries(next).filter(([, value]) => value !== ''));
    start(() => go((router) => router.replace(params.size === 0 ? pathname : `${pathname}?${params.toString()}`, { scroll: false })));
  };
  const count = (one: Severity): number => open.filter(({ finding }) => finding.severity === one).length;
  return (
    <div className={classes.filters} aria-busy={pending}>
      <Select
        aria-label={words('outbox')}
        value={outbox ?? ''}
        data={[{ value: '', label: words('all') }, ...outboxes.map(({ id, name }) => ({ value: id, label: name }))]}
        onChange={(event) => show({ outbox: event.currentTarget.value, severity: severity ?? '' })}
      />
      <ChoiceBar
        aria-label={words('severity')}
        value={severity ?? ''}
        data={[
          { value: '', label: `${words('anySeverity')} ${open.length}` },
          ...SEVERITIES.map((one) => ({ value: one, label: `${words(`severities.${one}`)} ${count(one)}` })),
        ]}
        onChange={(value) => show({ outbox: outbox ?? '', severity: value })}
      />
      {severity !== undefined && <span className={classes.quiet}>{words(`severityWhat.${severity}`)}</span>}
    </div>
  );
}
