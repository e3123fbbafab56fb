import { Button, Pill, Title } from '@mantine/core';
import { IconCalendarTime, IconDownload, IconFlag, IconZoomReset } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { BASE_PATH } from '@/lib/shared/base-path';
import { type ChartView, seriesQuery, shortIso } from '@/lib/shared/figures/chart-view';
import { type ChartMark, type Mark, MARK_KINDS, MARK_TEXT_MAX } from '@/lib/shared/figures/marks';
import { ratedPoints } from '@/lib/shared/figures/series-rates';
import { isLacking } from '@/lib/shared/figures/measured';
import { spanProblem } from '@/lib/shared/figures/windows';
import type { Series } from '@/lib/shared/model';
import type { Action } from '@/lib/shared/problems';
import { instantToWall, wallToInstant } from '@/lib/shared/text/zoned-time';
import { timeSpan, type TimeSpan } from '../charts/chart-model';
import { ChartCursorProvider, TakeOffContext } from '../charts/chart-parts';
import { useFormat } from '../figures/format';
import { useViewChange } from '../shell/outbox-bar';
import { ButtonPopover, ChoiceBar, Form, TextButton, TextField } from '../frame/controls';
import { useChange } from '../frame/use-change';
import { ChartPanel, isEmptyChart, useChartSpecs } from './chart-panel';
import { LeftOut } from './left-out';
import screen from './outbox.module.css';
import classes from './charts.module.css';

export interface ChartsProps {
  outbox: string;
  view: ChartView;
  series: Series;
  marks: readonly ChartMark[];
  /** null if the viewer may not mark. */
  marking: MarkActions | null;
  onMarked: () => Promise<void>;
  children: ReactNode;
}

/** History: depth, flow, latency, failures and dead letters on one time axis, with one cursor and one selection. */
export function Charts({ outbox, view, series, marks, marking, onMarked, children }: ChartsProps) {
  const words = useTranslations('outbox.charts');
  const [pending, change] = useViewChange('push');
  const { points, stepSeconds, asOf } = series;
  const span = useMemo(() => timeSpan(ratedPoints({ points, stepSeconds, asOf }), stepSeconds), [points, stepSeconds, asOf]);
  const specs = useChartSpecs(series);
  const kind = useState<Mark['kind']>('deploy');
  const lacking = specs.filter(({ of, panes }) => isLacking(series.why[of]) && isEmptyChart({ panes, span }));
  const { type } = view;
  const zoom = useCallback(
    (from: number, to: number) => change({ span: { from: shortIso(from), to: shortIso(to) }, type }),
    [change, type],
  );
  return (
    <section className={classes.history} aria-labelledby="history">
      <ChartBar outbox={outbox} view={view} span={span} onChange={change}>
        {marking && (
          <ButtonPopover {...BUTTON} label={words('addMark')} leftSection={<IconFlag size={14} aria-hidden />}>
            {(close) => <MarkForm outbox={outbox} action={marking.mark} onMarked={onMarked} of={kind} close={close} />}
          </ButtonPopover>
        )}
      </ChartBar>
      {children}
      <TakeOffContext value={marking && { action: (mark) => marking.unmark({ outbox, mark }), onDone: onMarked }}>
        <ChartCursorProvider>
          <div className={classes.charts} aria-busy={pending}>
            {specs
              .filter((spec) => !lacking.includes(spec))
              .map(({ id, of, panes }) => (
                <ChartPanel key={id} title={words(id)} why={series.why[of]} panes={panes} span={span} marks={marks} onZoom={zoom} />
              ))}
          </div>
          <p className={screen.tilesFoot}>
            <LeftOut lacking={lacking.map(({ id, of }) => ({ label: words(id), why: series.why[of] }))} />
          </p>
        </ChartCursorProvider>
      </TakeOffContext>
    </section>
  );
}

interface ChartBarProps extends Pick<ChartsProps, 'outbox' | 'view' | 'children'> {
  span: TimeSpan;
  onChange: (view: Pick<ChartView, 'span' | 'type'>) => void;
}

/** Which time and type the charts show, controls to change them, and a CSV of the numbers. */
function ChartBar({ outbox, view, span, onChange, children }: ChartBarProps) {
  const words = useTranslations('outbox.charts');
  const windows = useTranslations('frame.windows');
  const format = useFormat();
  const { window, type } = view;
  const own = !('window' in view.span);
  const step = format.age(span.stepMs);
  const csv = `${BASE_PATH}/api/v1/outboxes/${encodeURIComponent(outbox)}/series?${seriesQuery(view)}&format=csv`;
  return (
    <div className={classes.bar}>
      <Title order={2} id="history">
        {words('title')}
      </Title>
      <p>
        {'window' in view.span
          ? words('ofWindow', { window: windows(view.span.window), step })
          : words('ofSpan', { from: format.absolute(view.span.from).slice(0, 16), to: format.absolute(view.span.to).slice(0, 16), step })}
      </p>
      <div className={classes.tools}>
        {type !== undefined && (
          <Pill
            withRemoveButton
            onRemove={() => onChange({ span: view.span })}
            removeButtonProps={{ 'aria-label': words('allTypes'), 'aria-hidden': false, tabIndex: 0 }}
          >
            {words('ofType', { type })}
          </Pill>
        )}
        {own && (
          <TextButton
            size="compact-sm"
            variant="default"
            icon={IconZoomReset}
            onClick={() => onChange({ span: { window }, type })}
            label={words('resetZoom')}
          />
        )}
        <ButtonPopover {...BUTTON} label={words('choose')} leftSection={<IconCalendarTime size={14} aria-hidden />}>
          {(close) => <SpanForm span={span} onApply={(chosen) => onChange({ span: chosen, type })} close={close} />}
        </ButtonPopover>
        {children}
        <Button component="a" href={csv} download size="compact-sm" variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
          {words('csv')}
        </Button>
      </div>
    </div>
  );
}

const BUTTON = { size: 'compact-sm', side: 'end', width: 288 } as const;

/** A time to the minute, in the reader's zone. */
const minuteOf = (at: number, timeZone: string) => instantToWall(at, timeZone).slice(0, 16);

/** Sets a span by its two times, without dragging. */
function SpanForm({ span, onApply, close }: { span: TimeSpan; onApply: (span: Record<'from' | 'to', string>) => void; close: () => void }) {
  const words = useTranslations('outbox.charts');
  const { timeZone } = useFormat();
  const [walls, setWalls] = useState(() => ({ from: minuteOf(span.from, timeZone), to: minuteOf(span.to, timeZone) }));
  const [wrong, setWrong] = useState<string | null>(null);
  const apply = () => {
    const [from, to] = [wallToInstant(walls.from, timeZone) ?? '', wallToInstant(walls.to, timeZone) ?? ''];
    const problem = spanProblem(from, to);
    setWrong(problem === null ? null : words(`spanProblems.${problem}`));
    if (problem !== null) return;
    close();
    onApply({ from: shortIso(Date.parse(from)), to: shortIso(Date.parse(to)) });
  };
  return (
    <Form className={classes.times} onSubmit={apply}>
      {(['from', 'to'] as const).map((end) => (
        <TextField
          key={end}
          type="datetime-local"
          label={words(end)}
          value={walls[end]}
          error={end === 'to' && wrong}
          onChange={(event) => setWalls({ ...walls, [end]: event.currentTarget.value })}
          data-autofocus={end === 'from' || undefined}
        />
      ))}
      <p>{timeZone}</p>
      <TextButton size="xs" type="submit" label={words('show')} />
    </Form>
  );
}

interface MarkActions {
  mark: Action<{ mark: Pick<Mark, 'kind' | 'text'> & { outbox: string; at?: string }; key: string }, Mark>;
  unmark: Action<{ outbox: string; mark: string }, Mark>;
}

interface MarkFormProps extends Pick<ChartsProps, 'outbox' | 'onMarked'> {
  action: MarkActions['mark'];
  /** The last chosen kind. */
  of: [Mark['kind'], (kind: Mark['kind']) => void];
  close: () => void;
}

/** Puts a mark on the charts of this outbox, now or at a past time. */
function MarkForm({ outbox, action, onMarked, of: [kind, setKind], close }: MarkFormProps) {
  const words = useTranslations('outbox.charts');
  const { timeZone } = useFormat();
  const [text, setText] = useState('');
  const [at, setAt] = useState(() => minuteOf(Date.now(), timeZone));
  // A mark sent twice is one mark; the next one has another key.
  const [key] = useState(() => crypto.randomUUID());
  const { send, sending, problemText } = useChange(action, {
    onDone: () => {
      close();
      return onMarked();
    },
  });
  return (
    <Form
      className={classes.times}
      onSubmit={() => send({ mark: { kind, text: text.trim(), outbox, at: wallToInstant(at, timeZone) ?? undefined }, key })}
    >
      <ChoiceBar
        fullWidth
        aria-label={words('markKind')}
        data={MARK_KINDS.map((value) => ({ value, label: words(`marks.${value}`) }))}
        value={kind}
        onChange={setKind}
      />
      <TextField
        label={words('markText')}
        required
        maxLength={MARK_TEXT_MAX}
        value={text}
        error={problemText}
        onChange={(event) => setText(event.currentTarget.value)}
        data-autofocus
      />
      <TextField
        type="datetime-local"
        label={words('markAt', { zone: timeZone })}
        required
        value={at}
        onChange={(event) => setAt(event.currentTarget.value)}
      />
      <TextButton size="xs" type="submit" loading={sending} label={words('addMark')} />
    </Form>
  );
}
