import type { Config, OutboxConfig } from '@/lib/config/config';
import { createServers, type Servers } from '@/lib/database/connections/servers';
import { type Database, openDatabase } from '@/lib/database/database';
import { DatabaseFailure } from '@/lib/database/failure';
import { SHAPES } from '@/lib/shape/catalog.gen';
import { Queue } from '@/lib/shared/async/queue';
import { Problem } from '@/lib/shared/problems';
import { bindOutbox } from './bind';
import type { Outbox, OutboxSettings } from './outbox';
import type { KnownProof, ProofSource } from './proof/proven';

function settingsOf(outbox: OutboxConfig): DirectoryOptions['outboxes'][number] {
  const { shape } = outbox;
  const found = typeof shape === 'string' ? SHAPES.find(({ key }) => key === shape) : shape;
  // The configuration was checked against the same registry.
  if (found === undefined) throw new Error(`No shape ${JSON.stringify(shape)} for outbox ${outbox.id}`);
  return { ...outbox, shape: found, inline: typeof shape !== 'string' };
}

export function directoryOptions(config: Config): DirectoryOptions {
  return {
    databases: config.databases.map(({ id, url, operatorUrl }) => ({ id, url, operatorUrl: operatorUrl ?? undefined })),
    outboxes: config.outboxes.map(settingsOf),
  };
}

/** Whoever shows or changes rows has the table looked at again after this long, so that an index, a grant or a column added meanwhile is seen. */
const REBIND_AFTER_MS = 30_000;
/** Whoever only watches, after this long: two hundred tables are looked at all day, and what fails has them forgotten. */
const REBIND_WATCHED_AFTER_MS = 120_000;
/** One part in so many of the connections for a kind of work is for looking at tables. */
const BINDING_SHARE = 4;

export interface DirectoryOptions {
  databases: { id: string; url: string; operatorUrl?: string }[];
  outboxes: (OutboxSettings & { database: string })[];
  onIdleError?: (database: string, error: Error) => void;
  readAs?: string;
  /** Where the bounds of the servers are kept; bounds of its own when left out. */
  servers?: Servers;
  /** Where proofs are kept; without it only outboxes that need none can be changed. */
  proofs?: ProofSource;
}

export type OutboxDirectory = ReturnType<typeof createDirectory>;

const NO_PROOFS: ProofSource = () => Promise.resolve({ switched: null, decided: null });

interface Entry {
  settings: OutboxSettings;
  database: Database;
  proof: () => Promise<KnownProof | null>;
  others: readonly OutboxSettings[];
  bound: Outbox | null;
  boundAt: number;
  inFlight: Promise<Outbox> | null;
  /** How often: what a look finds that began before is answered to who waits for it, and not kept. */
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
    // Whoever may watch watches on; nothing is changed until the store answers.
    const proof = async (): Promise<KnownProof | null> => (options.proofs ?? NO_PROOFS)(settings.id).catch(() => null);
    const others = options.outboxes.filter((other) => other.database === settings.database && other.id !== settings.id);
    entries.set(settings.id, { settings, database, proof, others, bound: null, boundAt: 0, inFlight: null, forgotten: 0 });
  }
  const entry = (id: string): Entry => {
    const found = entries.get(id);
    if (found === undefined)
      throw new Problem('not_found', `There is no outbox called ${JSON.stringify(id.slice(0, 80))} in the configuration`);
    return found;
  };

  const queues = new Map<string, Queue>();
  /** Hundreds of tables are not looked at in one moment: that would take every connection there may be. */
  const bindInTurn = async (found: Entry): Promise<Outbox> => {
    const { database } = found;
    // Of one that is away the last binding is answered, and nobody's turn is spent on finding out.
    const away = await database.reachable().then(
      () => null,
      (error: unknown) => error,
    );
    if (away !== null) return boundBefore(found, away);
    const { server, roles } = database.status();
    const limit = (roles.reader ?? roles.collector)?.limit ?? 1;
    const queue = queues.get(server.key) ?? new Queue(Math.max(1, Math.floor(limit / BINDING_SHARE)));
    queues.set(server.key, queue);
    const ticket = queue.enter(database.id);
    await ticket.turn;
    return bind(found).finally(() => ticket.leave());
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
    /** Bound anew at most every 30 s; as it was last while its database is unreachable. Throws Problem `not_found`, `unavailable`. */
    get: async (id: string): Promise<Outbox> => bound(entry(id), REBIND_AFTER_MS),
    /** As `get`, but answers the last binding, however old, and binds anew meanwhile, at most every two minutes. */
    async last(id: string): Promise<Outbox> {
      const found = entry(id);
      const looking = bound(found, REBIND_WATCHED_AFTER_MS);
      if (found.bound === null) return looking;
      // What became of it is answered next time.
      looking.catch(() => undefined);
      return found.bound;
    },
    /** The next `get` looks at the table again; what was being looked at is not kept. */
    forget(id: string): void {
      const found = entry(id);
      found.boundAt = 0;
      found.inFlight = null;
      found.forgotten += 1;
    },
    /** What the store knows of the outbox's proof now; null when it does not answer. */
    proof: async (id: string): Promise<KnownProof | null> => entry(id).proof(),
    async close(): Promise<void> {
      await Promise.all([...databases.values()].map((database) => database.close()));
    },
  };
}

async function bind(entry: Entry): Promise<Outbox> {
  try {
    const { forgotten } = entry;
    const found = await bindOutbox(entry.settings, entry.database, await entry.proof(), entry.others);
    if (forgotten !== entry.forgotten) return found;
    entry.bound = found;
    entry.boundAt = Date.now();
    return found;
  } catch (error) {
    return boundBefore(entry, error);
  }
}

function boundBefore(entry: Entry, error: unknown): Outbox {
  if (!(error instanceof DatabaseFailure)) throw error;
  if (entry.bound !== null) return entry.bound;
  throw databaseProblem(error, entry.database.id);
}

/** A text that the server could not even take in: it came with the request. Without a state it never reached a server. */
const NO_TEXT = new Set(['22021', '3988']);

/** A database's failure in the words of the HTTP surface; what the driver said stays in the log. */
export function databaseProblem(failure: DatabaseFailure, databaseId: string): Problem {
  if (failure.ofStore)
    return new Problem('unavailable', "The console's own store does not answer: try again in a moment", { ofStore: true, cause: failure });
  const said: Partial<Record<DatabaseFailure['code'], [Problem['code'], string]>> = {
    timeout: ['timeout', 'The database took too long and the statement was cancelled: narrow the time, the type or the state'],
    busy: ['timeout', `All connections the console may have to the server of database ${databaseId} are in use: try again in a moment`],
    locked: ['timeout', 'The database is busy with a lock on this table: try again in a moment'],
    no_privilege: [
      'unavailable',
      `The console's role in database ${databaseId} lacks a privilege on this table: run the install command and apply its grants`,
    ],
    missing: ['unavailable', `A table or column of this outbox is gone from database ${databaseId}: check the configuration`],
    statement_binlog: [
      'read_only',
      `Database ${databaseId} writes statements into its binary log and takes none of a change as the console makes it`,
    ],
    read_only: ['read_only', `Database ${databaseId} accepts no writes at the moment: it may be a replica`],
    // What else a request holds is looked at before it is sent: a cursor (`keyFits`), ids (`idFits`), times (`parseEventFilter`).
    bad_value:
      failure.state === null || NO_TEXT.has(failure.state)
        ? ['invalid', 'A text in this request holds a character that the database cannot have']
        : [
            'unavailable',
            `A row of this outbox in database ${databaseId} holds a value that cannot be read as its mapping says, or not be written to its column (${failure.state}): the server's log says which`,
          ],
    constraint: ['conflict', 'A constraint or a trigger of the table refused the change: its owner knows which rows it takes'],
    duplicate: ['conflict', 'A unique key of the table is taken by another row'],
    deadlock: ['timeout', 'The change and others on this table waited for each other: try again in a moment'],
    outdated: [
      'unavailable',
      `Database ${databaseId} refused a statement of the console (${failure.state ?? 'no code'}): ${failure.outdated ?? 'its server is too old'}; if not for that, check that the mapping fits the table; the server's log says more`,
    ],
    other: [
      'unavailable',
      `Database ${databaseId} refused a statement of the console (${failure.state ?? 'no code'}): check that the mapping fits the table; the server's log says more`,
    ],
  };
  const [code, detail] = said[failure.code] ?? [
    'unavailable',
    `Database ${databaseId} cannot be reached: the figures shown are the last ones read`,
  ];
  return new Problem(code, detail, { cause: failure });
}

/** Answers how many outboxes are on the server of an outbox, that one included. */
export function countByServer(directory: OutboxDirectory): (outbox: string) => number {
  const serverOf = (outbox: string): string => directory.database(outbox).status().server.key;
  const counts = new Map<string, number>();
  for (const id of directory.ids) counts.set(serverOf(id), (counts.get(serverOf(id)) ?? 0) + 1);
  return (outbox) => counts.get(serverOf(outbox)) ?? 1;
}
