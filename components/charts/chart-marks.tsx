import { useContext, type CSSProperties, type ComponentType, memo } from 'react';
import { Anchor } from '@mantine/core';
import { IconAlertTriangle, IconHandClick, IconNote, IconPlayerPlay, IconRocket, IconTrash, type IconProps } from '@tabler/icons-react';
import { useTranslations } from 'next-intl';
import { Link } from '../frame/go';
import type { ChartMark, Mark } from '@/lib/shared/figures/marks';
import { visibleText } from '@/lib/shared/text/visible-text';
import { useFormat } from '../figures/format';
import { Float, useFloat } from '../frame/float';
import { useChange } from '../frame/use-change';
import { TextButton } from '../frame/popovers';
import { actionHref, runHref } from '../hrefs';
import { TakeOffContext, type TakeOff, useMarkKind } from './chart-parts';
import type { ChartProps } from './chart-model';
import classes from './charts.module.css';

const SIGNS: Record<ChartMark['kind'], ComponentType<IconProps>> = {
  deploy: IconRocket,
  incident: IconAlertTriangle,
  note: IconNote,
  action: IconHandClick,
  run: IconPlayerPlay,
};

/** The flag of a mark: a tooltip on hover, touch and focus; on click its link, and a button to take it off. */
function MarkFlag({ mark, style }: { mark: ChartMark; style: CSSProperties }) {
  const words = useTranslations('outbox.charts');
  const format = useFormat();
  const takeOff = useContext(TakeOffContext);
  const { button, float } = useFloat();
  const { kind, text, at, actor, url } = mark;
  const label = words('mark', { kind: useMarkKind()(mark), text, at: format.absolute(at), actor });
  const Sign = SIGNS[kind];
  const flag = {
    className: classes.flag,
    style,
    'aria-label': label,
    'data-tip': float === null ? label : undefined,
    children: <Sign size={12} stroke={2} aria-hidden />,
  };
  if (mark.kind === 'action' || mark.kind === 'run')
    return <Link href={mark.kind === 'run' ? runHref(mark.id) : actionHref(mark.id)} prefetch={false} {...flag} />;
  if (takeOff === null)
    return url === null ? <button type="button" {...flag} /> : <a href={url} target="_blank" rel="noreferrer" {...flag} />;
  return (
    <>
      <button type="button" {...flag} {...button} />
      {float && (
        <Float {...float} label={label} side="middle" width={280}>
          <MarkDetails mark={mark} takeOff={takeOff} />
        </Float>
      )}
    </>
  );
}

function MarkDetails({ mark: { id, kind, text, at, actor, url, outbox }, takeOff }: { mark: Mark; takeOff: TakeOff }) {
  const words = useTranslations('outbox.charts');
  const problems = useTranslations('problems');
  const format = useFormat();
  const { send, sending, problem } = useChange(takeOff.action, { onDone: takeOff.onDone, goneIsDone: true });
  return (
    <div className={classes.markDetails}>
      <strong>
        <bdi>{visibleText(text)}</bdi>
      </strong>
      <p>{words('markFacts', { kind: words(`marks.${kind}`), at: format.absolute(at), actor })}</p>
      {outbox === null && <p>{words('markOfAll')}</p>}
      {url !== null && (
        <Anchor href={url} target="_blank" rel="noreferrer" size="xs">
          <bdi>{url}</bdi>
        </Anchor>
      )}
      {problem !== null && <p role="alert">{problems(problem.code)}</p>}
      <TextButton
        size="compact-xs"
        variant="default"
        icon={IconTrash}
        loading={sending}
        onClick={() => send(id)}
        label={words('takeOff')}
      />
    </div>
  );
}

const FLAG_PX = 21;
/** More of them cover each other. */
const FLAG_ROWS = 4;

/** Flags of marks that are close to each other go below each other. */
function flagRows(places: readonly number[]): number[] {
  const rows: number[] = [];
  places.forEach((at, index) => {
    const near = at - (places[index - 1] ?? -Infinity) < FLAG_PX;
    rows.push(near ? ((rows[index - 1] ?? 0) + 1) % FLAG_ROWS : 0);
  });
  return rows;
}

/** Deploys, incidents and notes as lines across a plot of `width` pixels. */
export const ChartMarks = memo(function ChartMarks({ marks, span, width }: Pick<ChartProps, 'marks' | 'span'> & { width: number }) {
  const { from, to } = span;
  const places = marks
    .map((mark) => ({ mark, share: (Date.parse(mark.at) - from) / (to - from) }))
    .filter(({ share }) => share >= 0 && share < 1)
    .sort((a, b) => a.share - b.share);
  const rows = flagRows(places.map(({ share }) => share * width));
  return places.map(({ mark, share }, index) => (
    <div key={mark.id} className={classes.chartMark} data-kind={mark.kind} style={{ left: `${share * 100}%` }}>
      <MarkFlag mark={mark} style={{ top: (rows[index] ?? 0) * FLAG_PX }} />
    </div>
  ));
});
