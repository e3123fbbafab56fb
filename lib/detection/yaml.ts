/** The lines to paste into the configuration, with comments on what a person has to confirm. */
import { stringify } from 'yaml';
import type { StatusWord } from '@/lib/shared/detection';
import type { Mapping } from './mapping';

export interface YamlInput {
  id: string;
  name: string;
  database: string;
  table: { schema: string; table: string };
  /** Key of the built-in shape, or the mapping. */
  shape: string | Mapping;
  parameters: { maxAttempts?: number; timeZone?: string; deadTable?: string };
  /** Parameters whose values nobody has read anywhere, with what they are assumed to be. */
  assumed: readonly { name: string; value: string | number }[];
  /** Words nobody has said the meaning of. */
  open: readonly StatusWord[];
  statusColumn: string | null;
  /** The status column holds numbers. */
  numeric: boolean;
}

const flow = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).trim();

/** One entry of `outboxes`, with the key above it. */
export function outboxYaml(input: YamlInput): string {
  const { table, shape } = input;
  const dotted = table.schema.includes('.') || table.table.includes('.');
  return [
    'outboxes:',
    `  - id: ${input.id}`,
    `    name: ${flow(input.name)}`,
    `    database: ${input.database}`,
    `    table: ${dotted ? flow(table) : flow(`${table.schema}.${table.table}`)}`,
    ...(typeof shape === 'string' ? [`    shape: ${shape}`] : ['    shape:', ...mappingLines(shape, input).map((line) => `      ${line}`)]),
    ...parameterLines(input),
    '',
  ].join('\n');
}

function mappingLines(mapping: Mapping, input: YamlInput): string[] {
  return [
    `kind: ${mapping.kind}`,
    'columns:',
    ...Object.entries(mapping.columns).map(([role, source]) => `  ${role}: ${flow(source)}`),
    ...stateLines(mapping, input),
    ...(mapping.dead === undefined ? [] : ['dead:', `  table: ${flow(mapping.dead.table)}`, ...deadColumns(mapping.dead.columns ?? {})]),
  ];
}

function stateLines({ states, kind }: Mapping, { open, statusColumn, numeric }: YamlInput): string[] {
  const lines = states.map(({ state, when, confirm }) => `  - ${flow({ state, when })}${confirm ? ' # confirm' : ''}`);
  const asked = open.map(
    ({ word }) =>
      `  # what does ${JSON.stringify(word)} mean? { state: …, when: { column: ${JSON.stringify(statusColumn)}, equals: ${numeric ? word : JSON.stringify(word)} } }`,
  );
  const vanish = kind === 'presence' ? ['# rows are taken out when they are published'] : [];
  return [...vanish, 'states:', ...lines, ...asked];
}

function deadColumns(columns: Record<string, unknown>): string[] {
  const entries = Object.entries(columns);
  return entries.length === 0 ? [] : ['  columns:', ...entries.map(([role, source]) => `    ${role}: ${flow(source)}`)];
}

function parameterLines({ parameters, assumed }: YamlInput): string[] {
  const said = new Set(assumed.map(({ name }) => name));
  const lines = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `      ${name}: ${flow(value)}${said.has(name) ? " # assumed: the relay's own setting counts" : name === 'timeZone' ? ' # confirm: the times have no zone' : ''}`,
    );
  return lines.length === 0 ? [] : ['    parameters:', ...lines];
}
