/**
 * The rooms of the house and the directions between them. ESLint (while typing), scripts/lint/layers.test.ts and the table in
 * docs/ARCHITECTURE.md (`npm run gen`) read this one list, so that a new room or line is added in one place.
 *
 * @typedef {{ holds: string, imports: readonly string[], sql?: true }} Room
 *   `holds`: what is in it, in one line. `imports`: the rooms it may import from, for types as for values; its own files are always
 *   allowed. `sql`: statements may be written there.
 */

const SHARED = 'lib/shared';
const BOUND = ['lib/outbox', 'lib/shape', 'lib/database', SHARED];

/** @type {Record<string, Room>} */
const BELOW_SERVER = {
  [SHARED]: { holds: 'types, errors, formatting: what server and browser both need', imports: [] },
  'lib/env': { holds: 'the one reader of the environment', imports: [SHARED] },
  'lib/messages': { holds: 'one catalogue of texts per language', imports: [SHARED] },
  'lib/database': { holds: 'engines, connections, timeouts, failures', imports: [SHARED], sql: true },
  'lib/store': { holds: "the console's own tables", imports: ['lib/database', SHARED], sql: true },
  'lib/shape': {
    holds: 'the mapping language, compiled and bound to tables; the built-in shapes',
    imports: ['lib/database', SHARED],
    sql: true,
  },
  'lib/config': { holds: 'the configuration file, checked', imports: ['lib/shape', 'lib/env', 'lib/messages', SHARED] },
  'lib/outbox': {
    holds: 'one configured outbox: rows, lists, masks, rights',
    imports: ['lib/config', 'lib/shape', 'lib/database', SHARED],
    sql: true,
  },
  'lib/detection': { holds: 'which tables of a database are outboxes', imports: ['lib/config', ...BOUND] },
  'lib/rollup': { holds: 'histograms and cells of them, and how SQL fills them', imports: ['lib/database', SHARED], sql: true },
  'lib/history': { holds: 'what was: the collector and its rollups', imports: ['lib/rollup', ...BOUND, 'lib/store'], sql: true },
  'lib/live': { holds: 'what is now, by one bounded statement', imports: ['lib/rollup', ...BOUND, 'lib/store'], sql: true },
  'lib/figures': {
    holds: 'live and history joined for a window',
    imports: ['lib/live', 'lib/history', 'lib/rollup', 'lib/outbox', 'lib/shape', SHARED],
  },
  'lib/diagnosis': {
    holds: 'verdict rules and their evidence',
    imports: ['lib/figures', 'lib/live', 'lib/rollup', 'lib/outbox', 'lib/shape', SHARED],
    sql: true,
  },
  'lib/snapshots': {
    holds: 'one cache of figures and verdicts for screens, scripts and the fleet',
    imports: ['lib/diagnosis', 'lib/figures', 'lib/live', 'lib/history', 'lib/rollup', 'lib/outbox', 'lib/database', SHARED],
  },
  'lib/prometheus': {
    holds: 'the figures as Prometheus reads them',
    imports: ['lib/snapshots', 'lib/history', 'lib/rollup', 'lib/store', SHARED],
  },
  'lib/doctor': { holds: 'what is wrong with a table, and its fix', imports: [...BOUND, 'lib/store'], sql: true },
  'lib/interventions': { holds: 'the one door to a change: guard, record, outcome', imports: [...BOUND, 'lib/store'], sql: true },
  'lib/proving': { holds: 'a mapping tried on real events, and taken back', imports: ['lib/interventions', ...BOUND, 'lib/store'] },
  'lib/audit': { holds: 'who did what: records carried into the store', imports: ['lib/interventions', ...BOUND, 'lib/store'] },
  'lib/identity': { holds: 'accounts, sessions, tokens', imports: ['lib/audit', 'lib/store', SHARED] },
  'lib/runs': {
    holds: 'plans, what a second person says of them, and how they are carried out',
    imports: ['lib/interventions', 'lib/audit', 'lib/config', ...BOUND, 'lib/store'],
  },
  'lib/jobs': { holds: 'what runs by itself', imports: ['lib/interventions', 'lib/audit', 'lib/outbox', 'lib/store', SHARED] },
};
const LIB = Object.keys(BELOW_SERVER);

/** @type {Record<string, Room>} */
export const ROOMS = {
  ...BELOW_SERVER,
  'lib/server': { holds: 'who is asking, may they, is the input sane; the only room of lib that knows Next', imports: LIB },
  components: { holds: 'screens and their parts; data and actions arrive as props', imports: [SHARED] },
  app: { holds: 'pages, server actions, routes', imports: ['components', 'lib/server', SHARED] },
  root: {
    holds: 'the files that tools insist on at the top',
    imports: ['lib/server', 'lib/env', 'lib/messages', SHARED, 'scripts', 'e2e'],
  },
  fixtures: { holds: 'tables, rows and mappings to try things with', imports: [...LIB, 'scripts'], sql: true },
  demo: { holds: 'relays, traffic, a sink, faults', imports: [...LIB, 'fixtures', 'scripts'], sql: true },
  bench: { holds: 'what the console costs, with budgets', imports: [...LIB, 'fixtures', 'demo', 'scripts'], sql: true },
  scripts: { holds: 'starters, generators, test runners, lint rules', imports: [...LIB, 'fixtures', 'demo'], sql: true },
  e2e: { holds: 'stories in a browser, races, faults', imports: [...LIB, 'fixtures', 'demo', 'scripts'], sql: true },
};

/** Tests stand on top of everything but the screens; the proxy is tried as it is. */
const TESTS_IMPORT = [...LIB, 'lib/server', 'root', 'fixtures', 'demo', 'scripts'];

const DRIVER_ROOMS = ['lib/database', 'fixtures', 'demo', 'bench', 'e2e', 'scripts'];
const COMPONENT_NEXT = ['next/link', 'next/navigation', 'next/dynamic'];

/** @param {string} file path from the repository's root, with forward slashes */
export function isTest(file) {
  return /\.(test|spec)\.tsx?$/.test(file) || /(^|\/)testing(\/|\.ts$)/.test(file);
}

/**
 * The room a file belongs to; null for a file no room of the picture holds.
 * @param {string} file path from the repository's root, with forward slashes
 * @returns {string | null}
 */
export function roomOf(file) {
  const [top = '', second = ''] = file.split('/');
  if (!file.includes('/')) return 'root';
  const room = top === 'lib' ? `lib/${second.replace(/\.[a-z.]+$/, '')}` : top;
  return room in ROOMS ? room : null;
}

/**
 * What is wrong with one file of ours importing another, or null.
 * @param {string} from importing file
 * @param {string} to imported file or folder
 */
export function importProblem(from, to) {
  const source = roomOf(from);
  const target = roomOf(to);
  if (source === null) return `${from} is in no room: add it to scripts/lint/layers.mjs and to the picture in docs/ARCHITECTURE.md`;
  if (target === null) return `${to} is in no room: add it to scripts/lint/layers.mjs and to the picture in docs/ARCHITECTURE.md`;
  if (source === target || ROOMS[source]?.imports.includes(target)) return null;
  if (isTest(from) && TESTS_IMPORT.includes(target)) return null;
  return `${source} may not import ${target}: imports go down the picture in docs/ARCHITECTURE.md`;
}

/**
 * What is wrong with a file of ours importing a package, or null.
 * @param {string} from importing file
 * @param {string} specifier
 * @returns {string | null}
 */
export function packageProblem(from, specifier) {
  const room = roomOf(from) ?? '';
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (['pg', 'mysql2', 'pg-cursor', 'pg-pool'].includes(name) && !DRIVER_ROOMS.includes(room) && !isTest(from)) {
    return `only lib/database (and demo, bench, e2e, scripts) may import ${name}`;
  }
  if (name === 'server-only' && room !== 'lib/server')
    return 'server-only belongs in lib/server: the rest of lib runs under plain Node too';
  if (name === 'next' || name === 'next-auth') {
    if (['app', 'lib/server', 'root'].includes(room)) return null;
    if (room === 'components' && COMPONENT_NEXT.includes(specifier)) return null;
    if (room === 'scripts' && name === 'next') return null;
    return `${specifier} belongs in app and lib/server (components: ${COMPONENT_NEXT.join(', ')})`;
  }
  return null;
}

/**
 * May this file hold SQL (text, the sql tag, or a Kysely statement)?
 * @param {string} file
 */
export function mayHoldSql(file) {
  return isTest(file) || ROOMS[roomOf(file) ?? '']?.sql === true;
}

/** SQL statements as text. Verbs in capitals, with the word that makes them SQL and not English. */
export const SQL_TEXT =
  /\b(SELECT\s[\s\S]*?\sFROM|SELECT\s+(now|count|pg_\w+)\(|INSERT\s+INTO|UPDATE\s+[\w".$]+\s+SET|DELETE\s+FROM|(CREATE|ALTER|DROP)\s+(OR\s+REPLACE\s+)?(TABLE|SCHEMA|INDEX|ROLE|DATABASE|FUNCTION|TRIGGER|VIEW)|TRUNCATE\s+\w|MERGE\s+INTO)\b/;

/** Kysely's statement builders. */
export const SQL_BUILDERS = ['selectFrom', 'insertInto', 'updateTable', 'deleteFrom', 'replaceInto', 'mergeInto'];

/**
 * May this file read `process.env`?
 * @param {string} file
 */
export function mayReadEnvironment(file) {
  if (['lib/env.ts', 'demo/env.ts', 'bench/env.ts'].includes(file)) return true;
  // Starters and test runners hand the environment on to the processes they start; tools read CI in their configuration.
  if (/^(scripts|e2e\/support)\//.test(file)) return true;
  return /^[a-z-]+\.config\.(ts|mjs|js)$/.test(file);
}
