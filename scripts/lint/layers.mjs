/**
 * The directions of docs/ARCHITECTURE.md as a table. ESLint (while typing) and lib/layers.test.ts (in the tests) read the
 * same one, so that a new room or line is added in one place.
 *
 * @typedef {{ values: readonly string[], types?: readonly string[] }} Room
 *   `values`: rooms it may import from. `types`: rooms it may only import types from. Its own files are always allowed.
 */

const LIB_BELOW_SERVER = [
  'lib/env',
  'lib/config',
  'lib/detection',
  'lib/identity',
  'lib/interventions',
  'lib/proving',
  'lib/prometheus',
  'lib/snapshots',
  'lib/diagnosis',
  'lib/figures',
  'lib/live',
  'lib/history',
  'lib/rollup',
  'lib/doctor',
  'lib/audit',
  'lib/jobs',
  'lib/outbox',
  'lib/shape',
  'lib/store',
  'lib/database',
  'lib/messages',
  'lib/shared',
];

/** @type {Record<string, Room>} */
export const ROOMS = {
  'lib/shared': { values: [] },
  'lib/env': { values: ['lib/shared'] },
  'lib/messages': { values: ['lib/shared'] },
  'lib/database': { values: ['lib/shared'], types: ['lib/config'] },
  'lib/config': { values: ['lib/shape', 'lib/env', 'lib/messages', 'lib/shared'] },
  'lib/store': { values: ['lib/database', 'lib/shared'], types: ['lib/config'] },
  'lib/shape': { values: ['lib/database', 'lib/shared'] },
  'lib/outbox': { values: ['lib/shape', 'lib/database', 'lib/shared'], types: ['lib/config'] },
  'lib/detection': { values: ['lib/config', 'lib/outbox', 'lib/shape', 'lib/database', 'lib/shared'] },
  'lib/rollup': { values: ['lib/database', 'lib/shared'] },
  'lib/history': { values: ['lib/rollup', 'lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'] },
  'lib/live': { values: ['lib/rollup', 'lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'] },
  'lib/figures': { values: ['lib/live', 'lib/history', 'lib/rollup', 'lib/outbox', 'lib/shape', 'lib/shared'] },
  'lib/diagnosis': { values: ['lib/figures', 'lib/live', 'lib/rollup', 'lib/outbox', 'lib/shape', 'lib/shared'] },
  'lib/snapshots': {
    values: ['lib/diagnosis', 'lib/figures', 'lib/live', 'lib/history', 'lib/rollup', 'lib/outbox', 'lib/database', 'lib/shared'],
  },
  'lib/prometheus': { values: ['lib/snapshots', 'lib/history', 'lib/rollup', 'lib/store', 'lib/shared'] },
  'lib/doctor': { values: ['lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'], types: ['lib/config'] },
  'lib/interventions': { values: ['lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'], types: ['lib/config'] },
  'lib/proving': { values: ['lib/interventions', 'lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'] },
  'lib/audit': {
    values: ['lib/interventions', 'lib/outbox', 'lib/shape', 'lib/store', 'lib/database', 'lib/shared'],
    types: ['lib/config'],
  },
  'lib/identity': { values: ['lib/audit', 'lib/store', 'lib/shared'], types: ['lib/config'] },
  'lib/jobs': { values: ['lib/interventions', 'lib/audit', 'lib/outbox', 'lib/store', 'lib/shared'], types: ['lib/config'] },
  'lib/server': { values: LIB_BELOW_SERVER },
  components: { values: ['lib/shared'] },
  app: { values: ['components', 'lib/server', 'lib/shared'], types: LIB_BELOW_SERVER },
  /** proxy.ts, instrumentation.ts and the configuration files that tools insist on at the top. */
  root: { values: ['lib/server', 'lib/env', 'lib/messages', 'lib/shared', 'scripts', 'e2e'] },
  /** Tables, rows and mappings to try things with: tests, demo, benches, generators. */
  fixtures: { values: [...LIB_BELOW_SERVER, 'scripts'] },
  demo: { values: [...LIB_BELOW_SERVER, 'fixtures', 'scripts'] },
  bench: { values: [...LIB_BELOW_SERVER, 'fixtures', 'demo', 'scripts'] },
  scripts: { values: [...LIB_BELOW_SERVER, 'fixtures', 'demo'] },
  e2e: { values: [...LIB_BELOW_SERVER, 'fixtures', 'demo', 'scripts'] },
};

/** Tests stand on top of everything but the screens: they may use the demo's relays and the testing helpers. */
const TEST_EXTRA = [...LIB_BELOW_SERVER, 'lib/server', 'fixtures', 'demo', 'scripts'];

const SQL_ROOMS = [
  'lib/database',
  'lib/outbox',
  'lib/shape',
  'lib/interventions',
  'lib/diagnosis',
  'lib/live',
  'lib/history',
  'lib/rollup',
  'lib/doctor',
  'lib/store',
  'fixtures',
  'demo',
  'bench',
  'e2e',
  'scripts',
];
const DRIVER_ROOMS = ['lib/database', 'demo', 'bench', 'e2e', 'scripts'];
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
  if (room === 'lib/layers') return 'root';
  return room in ROOMS ? room : null;
}

/**
 * What is wrong with one file of ours importing another, or null.
 * @param {string} from importing file
 * @param {string} to imported file or folder
 * @param {boolean} typeOnly
 * @returns {string | null}
 */
export function importProblem(from, to, typeOnly) {
  const source = roomOf(from);
  const target = roomOf(to);
  if (source === null) return `${from} is in no room: add it to scripts/lint/layers.mjs and to the picture in docs/ARCHITECTURE.md`;
  if (target === null) return `${to} is in no room: add it to scripts/lint/layers.mjs and to the picture in docs/ARCHITECTURE.md`;
  if (source === target) return null;
  const room = ROOMS[source];
  if (room?.values.includes(target)) return null;
  if (typeOnly && room?.types?.includes(target)) return null;
  if (isTest(from) && TEST_EXTRA.includes(target)) return null;
  const how = room?.types?.includes(target) ? ' as a value (a type is fine)' : '';
  return `${source} may not import ${target}${how}: imports go down the picture in docs/ARCHITECTURE.md`;
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
  return isTest(file) || SQL_ROOMS.includes(roomOf(file) ?? '');
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
