import fs from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { STATES } from '@/lib/shared/states';
import { VERDICTS } from '@/lib/shared/figures/verdicts';
import { FAMILIES, type Family } from './families';

/** Labels that Prometheus itself puts on every series. */
const TARGET_LABELS = ['instance', 'job'];
/** What a label can be, where that is known. */
const VALUES: Record<string, readonly string[] | undefined> = { state: [...STATES, 'waiting'], verdict: VERDICTS };
const duration = z.string().regex(/^\d+[smhd]$/);

const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: duration.optional(),
      rules: z.array(
        z.union([
          z.strictObject({ record: z.string().regex(/^[a-z_]+:[a-z_]+:[a-z0-9_]+$/), expr: z.string() }),
          z.strictObject({
            alert: z.string().regex(/^Outbox[A-Za-z]+$/),
            expr: z.string(),
            for: duration,
            labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.strictObject({ summary: z.string().min(10), description: z.string().min(10), runbook: z.string().min(10) }),
          }),
        ]),
      ),
    }),
  ),
});

const target = z.looseObject({
  refId: z.string(),
  datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }),
  expr: z.string(),
  legendFormat: z.string(),
});
const panelSchema = z.looseObject({
  id: z.int(),
  type: z.enum(['row', 'stat', 'table', 'timeseries', 'heatmap']),
  title: z.string().min(1),
  gridPos: z.strictObject({ x: z.int().min(0), y: z.int().min(0), w: z.int().min(1).max(24), h: z.int().min(1) }),
  targets: z.array(target).optional(),
});
const dashboardSchema = z.looseObject({
  uid: z.literal('outbox-console'),
  id: z.null(),
  schemaVersion: z.int().min(36),
  panels: z.array(panelSchema),
  templating: z.strictObject({ list: z.array(z.looseObject({ name: z.string(), type: z.string(), definition: z.string().optional() })) }),
});

const text = (file: string): string => fs.readFileSync(file, 'utf8');
const rules = rulesSchema.parse(parse(text('deploy/prometheus/outbox-console.rules.yml'))).groups.flatMap((group) => group.rules);
const dashboard = dashboardSchema.parse(JSON.parse(text('deploy/grafana/outbox-console.json')));
const targets = dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((one) => ({ ...one, panel: panel.title })));

/** Labels by series name: what the endpoint exposes, and what the rules record. */
const LABELS = new Map<string, readonly string[]>();
for (const [name, { type, labels }] of Object.entries<Family>(FAMILIES)) {
  const plain = labels.filter((label) => label !== 'le');
  if (type !== 'histogram') LABELS.set(name, labels);
  else for (const suffix of ['_bucket', '_sum', '_count']) LABELS.set(name + suffix, suffix === '_bucket' ? labels : plain);
}
for (const rule of rules) if ('record' in rule) LABELS.set(rule.record, ['outbox']);

interface Used {
  problems: string[];
  names: string[];
  /** Labels that grouping keeps; matched ones are checked against their series. */
  grouped: string[];
}

/** What an expression uses, read by the grammar of Prometheus itself, and what is wrong with it. */
function read(expression: string): Used {
  const source = expression.replaceAll('$__rate_interval', '5m').replaceAll('$outbox', '.*');
  const used: Used = { problems: [], names: [], grouped: [] };
  let labels: readonly string[] = [];
  const slice = (node: { from: number; to: number }): string => source.slice(node.from, node.to);
  parser.parse(source).iterate({
    enter(node) {
      if (node.type.isError) used.problems.push(`not PromQL: ${source}`);
      if (node.name === 'VectorSelector') {
        const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(slice(node))?.[0] ?? '';
        used.names.push(name);
        labels = LABELS.get(name) ?? [];
        if (!LABELS.has(name)) used.problems.push(`nobody exposes ${name}`);
      }
      if (node.name === 'UnquotedLabelMatcher') {
        const [, label = '', value = ''] = /^(\w+)\s*[=!~]+\s*"(.*)"$/.exec(slice(node)) ?? [];
        if (![...labels, ...TARGET_LABELS].includes(label)) used.problems.push(`${used.names.at(-1) ?? ''} has no label ${label}`);
        const values = VALUES[label];
        for (const one of value.split('|')) if (values?.includes(one) === false) used.problems.push(`${label} is never ${one}`);
      }
      if (node.name === 'GroupingLabels')
        used.grouped.push(
          ...slice(node)
            .replace(/[()\s]/g, '')
            .split(',')
            .filter(Boolean),
        );
    },
  });
  const known = new Set([...used.names.flatMap((name) => LABELS.get(name) ?? []), ...TARGET_LABELS]);
  used.problems.push(...used.grouped.filter((label) => !known.has(label)).map((label) => `nothing here has the label ${label}`));
  return used;
}

const unknownIn = (template: string, pattern: RegExp, labels: readonly string[]): string[] =>
  [...template.matchAll(pattern)].map((match) => match[1] ?? '').filter((label) => !labels.includes(label));

describe('the reader of expressions', () => {
  it.each([
    ['sum(outbox_console_uptime)', 'nobody exposes outbox_console_uptime'],
    ['sum(outbox_console_up{type="x"})', 'outbox_console_up has no label type'],
    ['sum by (type) (outbox_console_up)', 'nothing here has the label type'],
    ['outbox_console_verdict{verdict="tired"}', 'verdict is never tired'],
    ['outbox_console_publish_latency_seconds', 'nobody exposes outbox_console_publish_latency_seconds'],
    ['outbox_console_publish_latency_seconds_sum{le="1"}', 'outbox_console_publish_latency_seconds_sum has no label le'],
  ])('finds what is wrong with %s', (expression, problem) => {
    expect(read(expression).problems).toEqual([problem]);
  });

  it('finds what is not PromQL', () => {
    expect(read('sum by (outbox (outbox_console_up)').problems).not.toEqual([]);
  });
});

describe('the alert rules', () => {
  it.each(rules.map((rule) => ['alert' in rule ? rule.alert : rule.record, rule] as const))('%s uses what is exposed', (_, rule) => {
    const { problems, grouped } = read(rule.expr);
    expect(problems).toEqual([]);
    if (!('alert' in rule)) return;
    const kept = [...new Set(['outbox', ...grouped])];
    for (const template of Object.values(rule.annotations)) expect(unknownIn(template, /\$labels\.(\w+)/g, kept)).toEqual([]);
  });

  // A stopped relay falls behind as well: that is one alert, not two.
  it('ask whether a verdict holds, not whether it is the worst; falling_behind aside', () => {
    const worst = rules.filter(({ expr }) => /outbox_console_verdict\b/.test(expr)).map(({ expr }) => /verdict="(\w+)"/.exec(expr)?.[1]);
    expect(worst).toEqual(['falling_behind']);
  });

  // An operator who restores events, or sends them again in vain, raises the depth as well.
  it('take no depth of dead events without the verdict for deaths', () => {
    const deaths = rules.filter(({ expr }) => expr.includes('state="dead"'));
    expect(deaths).toHaveLength(1);
    for (const part of deaths.flatMap(({ expr }) => expr.split(' or ')))
      expect(part).toContain('outbox_console_verdict_holds{verdict="dead_growing"}');
  });

  it('have names of their own, and are all in the README', () => {
    const names = rules.flatMap((rule) => ('alert' in rule ? [rule.alert] : []));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !text('deploy/README.md').includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the dashboard', () => {
  it.each(targets.map((one) => [`${one.panel} ${one.refId}`, one] as const))('%s shows what is exposed', (_, { expr, legendFormat }) => {
    const { problems, names } = read(expr);
    expect(problems).toEqual([]);
    expect(
      unknownIn(
        legendFormat,
        /\{\{(\w+)\}\}/g,
        names.flatMap((name) => LABELS.get(name) ?? []),
      ),
    ).toEqual([]);
  });

  it('fills its variables from what is exposed', () => {
    const queries = dashboard.templating.list.flatMap(({ definition }) => (definition === undefined ? [] : [definition]));
    expect(queries).toEqual(['label_values(outbox_console_up, outbox)']);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'outbox']);
  });

  it('has panels with ids of their own that do not lie over each other', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length);
    const overlaps = panels.flatMap(({ gridPos: a, title }, at) =>
      panels
        .slice(at + 1)
        .filter(({ gridPos: b }) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
        .map((other) => `${title} and ${other.title}`),
    );
    expect(overlaps).toEqual([]);
    expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([]);
  });

  it('has a colour for every verdict', () => {
    expect(VERDICTS.filter((verdict) => !text('deploy/grafana/outbox-console.json').includes(`"${verdict}": {`))).toEqual([]);
  });
});

it('every metric is documented', () => {
  const documented = text('docs/prometheus.md');
  expect(
    Object.entries(FAMILIES).filter(([name, { help }]) => !documented.includes(`| \`${name}\` |`) || !documented.includes(help)),
  ).toEqual([]);
});
