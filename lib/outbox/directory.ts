import type { Config, OutboxConfig } from '@/lib/config/config';
import { createServers, type Servers } from '@/lib/database/connections/servers';
import { type Database, openDatabase } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { queuesOf } from '@/lib/shared/async/queue';
import { Problem } from '@/lib/shared/problems';
import { bindOutbox } from './bind';
import type { Outbox, OutboxSettings } from './outbox';
import { NO_PROOF, type KnownProof, type ProofSource } from './proof/proven';

function settingsOf(outbox: OutboxConfig): DirectoryOptions['outboxes'][number] {
  const { shape } = outbox;
  const found = typeof shape === 'string' ? SHAPES.find(({ key }) => key === shape) : shape;
  // Cannot happen: the configuration is checked against the same registry.
  if (found === undefined) throw new Error(`No shape ${JSON.stringify(shape)} for outbox ${outbox.id}`);
  return { ...outbox, shape: found, inline: typeof shape !== 'string' };
}

export function directoryOptions(config: Config): DirectoryOptions {
  return {
    databases: config.databases.map(({ id, url, operatorUrl }) => ({ id, url, operatorUrl: operatorUrl ?? undefined })),
    outboxes: config.outboxes.map(settingsOf),
  };
}

/** Before rows are shown or changed, an older binding is renewed, so that a new index, grant or column is used. */
const REBIND_AFTER_MS = 30_000;
/** For figures alone a binding lasts longer: 200 tables are bound all day, and errors of a table discard its binding (`forget`). */
const REBIND_WATCHED_AFTER_MS = 120_000;
/** At most one in this many of a server's reader connections binds tables. */
const BINDING_SHARE = 4;

export interface DirectoryOptions {
  databases: { id: string; url: string; operatorUrl?: string }[];
  outboxes: (OutboxSettings & { database: string })[];
  onIdleError?: (database: string, error: Error) => void;
  readAs?: string;
  /** The connection limits of the servers; its own if left out. */
  servers?: Servers;
  /** The source of proofs; without it only outboxes that need none can be changed. */
  proofs?: ProofSource;
}

export type OutboxDirectory = ReturnType<typeof createDirectory>;

interface Entry {
  settings: OutboxSettings;
  database: Database;
  proof: () => Promise<KnownProof | null>;
  others: readonly OutboxSettings[];
  bound: Outbox | null;
  boundAt: number;
  inFlight: Promise<Outbox> | null;
  /** How often `forget` was called: a binding that began before is returned to those who wait for it, but not kept. */
  forgotten: number;
}

export function createDirectory(options: DirectoryOptions) {
  const servers = options.servers ?? createServers();
  const databases = new Map(
    options.databases.map((config) => [
      config.id,
      openDatabase({ ...config, servers, readAs: options.readAs, onIdleError: (error) => options.onIdleError?.(config.id, error) }),
    ]),
  );
  const entries = new Map<string, Entry>();
  for (const settings of options.outboxes) {
    const database = databases.get(settings.database);
    if (database === undefined)
      throw new Problem('invalid', `Outbox ${settings.id} names database ${settings.database}, which is not configured`);
    // While the store does not answer, reading goes on but changes are refused.
    const proof = async (): Promise<KnownProof | null> => options.proofs?.(settings.id).catch(() => null) ?? NO_PROOF;
    const others = options.outboxes.filter((other) => other.database === settings.database && other.id !== settings.id);
    entries.set(settings.id, { settings, database, proof, others, bound: null, boundAt: 0, inFlight: null, forgotten: 0 });
  }
  const entry = (id: string): Entry => {
    const found = entries.get(id);
    if (found === undefined)
      throw new Problem('not_found', `There is no outbox called ${JSON.stringify(id.slice(0, 80))} in the configuration`);
    return found;
  };

  const queueOf = queuesOf();
  /** Binds a few tables at a time: hundreds at once would take all connections of a server. */
  const bindInTurn = async (found: Entry): Promise<Outbox> => {
    const { database } = found;
    // For an unreachable database the last binding is returned without a place in the queue.
    const known = await database.reachable().then(
      () => null,
      (error: unknown) => boundBefore(found, error),
    );
    if (known !== null) return known;
    const { server, roles } = database.status();
    const limit = (roles.reader ?? roles.collector)?.limit ?? 1;
    return queueOf(server.key, Math.max(1, Math.floor(limit / BINDING_SHARE))).run(database.id, () => bind(found));
  };

  async function bound(found: Entry, forMs: number): Promise<Outbox> {
    if (found.bound !== null && Date.now() - found.boundAt < forMs) return found.bound;
    if (found.inFlight !== null) return found.inFlight;
    const looking = bindInTurn(found).finally(() => {
      if (found.inFlight === looking) found.inFlight = null;
    });
    found.inFlight = looking;
    return looking;
  }

  return {
    ids: [...entries.keys()] as readonly string[],
    databases: [...databases.values()] as readonly Database[],
    settings: (id: string): OutboxSettings => entry(id).settings,
    database: (id: string): Database => entry(id).database,
    /** Binds anew at most every 30 s; returns the last binding if the database fails. Throws Problem (`not_found`, `invalid`, ...). */
    get: async (id: string): Promise<Outbox> => bound(entry(id), REBIND_AFTER_MS),
    /** Like `get`, but returns the last binding at once, unless the table fits no more, and renews it meanwhile, at most every two minutes. */
    async last(id: string): Promise<Outbox> {
      const found = entry(id);
      const looking = bound(found, REBIND_WATCHED_AFTER_MS);
      if (found.bound === null) return looking;
      // If the database fails, the last binding stays in use.
      looking.catch(() => undefined);
      return found.bound;
    },
    /** The next `get` reads the table's description again; a binding under way is not kept. */
    forget(id: string): void {
      const found = entry(id);
      found.boundAt = 0;
      found.inFlight = null;
      found.forgotten += 1;
    },
    /** The outbox's proof in the store now; null if the store does not answer. */
    proof: async (id: string): Promise<KnownProof | null> => entry(id).proof(),
    async close(): Promise<void> {
      await Promise.all([...databases.values()].map((database) => database.close()));
    },
  };
}

async function bind(entry: Entry): Promise<Outbox> {
  const { forgotten } = entry;
  try {
    const found = await bindOutbox(entry.settings, entry.database, await entry.proof(), entry.others);
    if (forgotten !== entry.forgotten) return found;
    entry.bound = found;
    entry.boundAt = Date.now();
    return found;
  } catch (error) {
    // The catalogue was read: the last binding is of a table that is no more.
    if (error instanceof Problem && forgotten === entry.forgotten) entry.bound = null;
    return boundBefore(entry, error);
  }
}

function boundBefore(entry: Entry, error: unknown): Outbox {
  if (!(error instanceof DatabaseFailure)) throw error;
  if (entry.bound !== null) return entry.bound;
  throw databaseProblem(error, entry.database.id);
}

/** Characters that the server's encoding cannot hold: they came with the request. A null state: the driver refused the value. */
const NO_TEXT = new Set(['22021', '3988']);

/** A database failure as a Problem for the HTTP API; the driver's message stays in the log. */
export function databaseProblem(failure: DatabaseFailure, databaseId: string): Problem {
  if (failure.ofStore)
    return new Problem('unavailable', "The console's own store does not answer: try again in a moment", { ofStore: true, cause: failure });
  const refused = `Database ${databaseId} refused a statement of the console (${failure.state ?? 'no code'})`;
  /** A text alone is of code `unavailable`. */
  const said: Partial<Record<DatabaseFailure['code'], string | [Problem['code'], string]>> = {
    timeout: ['timeout', 'The database took too long and the statement was cancelled: narrow the time, the type or the state'],
    busy: ['timeout', `All connections the console may have to the server of database ${databaseId} are in use: try again in a moment`],
    locked: ['timeout', 'The database is busy with a lock on this table: try again in a moment'],
    no_privilege: `The console's role in database ${databaseId} lacks a privilege on this table: run the install command and apply its grants`,
    missing: `A table or column of this outbox is gone from database ${databaseId}: check the configuration`,
    statement_binlog: [
      'read_only',
      `Database ${databaseId} writes statements into its binary log and takes none of a change as the console makes it`,
    ],
    read_only: ['read_only', `Database ${databaseId} accepts no writes at the moment: it may be a replica`],
    // Other values of a request are checked before they are sent: cursors (`keyFits`), ids (`idFits`), times (`parseEventFilter`).
    bad_value:
      failure.state === null || NO_TEXT.has(failure.state)
        ? ['invalid', 'A text in this request holds a character that the database cannot have']
        : `A row of this outbox in database ${databaseId} holds a value that cannot be read as its mapping says, or not be written to its column (${failure.state}): the server's log says which`,
    constraint: ['conflict', 'A constraint or a trigger of the table refused the change: its owner knows which rows it takes'],
    duplicate: ['conflict', 'A unique key of the table is taken by another row'],
    deadlock: ['timeout', 'The change and others on this table waited for each other: try again in a moment'],
    outdated: `${refused}: ${failure.outdated ?? 'its server is too old'}; if not for that, check that the mapping fits the table; the server's log says more`,
    other: `${refused}: check that the mapping fits the table; the server's log says more`,
  };
  const found = said[failure.code] ?? `Database ${databaseId} cannot be reached: the figures shown are the last ones read`;
  const [code, detail] = typeof found === 'string' ? (['unavailable', found] as const) : found;
  return new Problem(code, detail, { cause: failure });
}

/** For `catch`: throws a failure of the outbox's database as a Problem, any other error as it is. */
export const asProblem =
  ({ database }: Outbox) =>
  (error: unknown): never => {
    throw error instanceof DatabaseFailure ? databaseProblem(error, database.id) : error;
  };

/** Returns a function that counts the outboxes on the server of an outbox, itself included. */
export function countByServer(directory: OutboxDirectory): (outbox: string) => number {
  const serverOf = (outbox: string): string => directory.database(outbox).status().server.key;
  const counts = new Map<string, number>();
  for (const id of directory.ids) counts.set(serverOf(id), (counts.get(serverOf(id)) ?? 0) + 1);
  return (outbox) => counts.get(serverOf(outbox)) ?? 1;
}
