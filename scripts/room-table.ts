/** The table of rooms in docs/ARCHITECTURE.md, written from scripts/lint/layers.mjs. */
import fs from 'node:fs';
import path from 'node:path';
import { ROOMS } from './lint/layers.mjs';

const SECTION = /(<!-- rooms: .*? -->)[\s\S]*?(<!-- end -->)/;

/** The document with its table as it should be. Throws where it has no place for one. */
export function renderRoomTable(root: string): string {
  const text = fs.readFileSync(path.join(root, 'docs/ARCHITECTURE.md'), 'utf8');
  if (!SECTION.test(text))
    throw new Error('docs/ARCHITECTURE.md: it has no place for the table of rooms (<!-- rooms: … --> … <!-- end -->)');
  const rows = Object.entries(ROOMS).map(([room, { holds, imports, sql }]) => [
    `\`${room}\``,
    holds,
    sql ? 'yes' : '',
    imports.length > LISTED ? 'every room of lib below the server' + others(imports) : imports.map(short).join(', '),
  ]);
  return text.replace(
    SECTION,
    (_, open: string, end: string) => `${open}\n\n${table([['room', 'holds', 'SQL', 'may import'], ...rows])}\n\n${end}`,
  );
}

/** With more than this it is every room of lib, and those outside. */
const LISTED = 12;
const short = (room: string): string => room.replace(/^lib\//, '');
const others = (imports: readonly string[]): string =>
  imports
    .filter((room) => !room.startsWith('lib/'))
    .map((room) => `, ${room}`)
    .join('');

/** As Prettier writes it. */
function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body.map(line)].join('\n');
}
