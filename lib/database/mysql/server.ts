import { sql } from 'kysely';
import type { Db } from '../description';

/** MySQL or MariaDB, which differ, and its version; a URL does not say which of them answers. */
export type ServerKind = Record<'major' | 'minor' | 'patch', number> & { mariadb: boolean };

/** Parses the result of `version()`, e.g. `10.11.18-MariaDB-0+deb12u1` or `8.4.2`. */
export function serverKind(version: string): ServerKind {
  // Older MariaDB servers put `5.5.5-` in front, for old replicas.
  const [, major = '0', minor = '0', patch = '0'] = /^(?:5\.5\.5-)?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return { mariadb: /mariadb/i.test(version), major: Number(major), minor: Number(minor), patch: Number(patch) };
}

export async function serverOf(db: Db): Promise<ServerKind> {
  const { rows } = await sql<{ version: string }>`select version() as version`.execute(db);
  return serverKind(rows[0]?.version ?? '');
}

/** Name and version, e.g. `MariaDB 10.11.18` or `MySQL 8.4.2`. */
export function serverName(version: string): string {
  const [, number = version] = /^(?:5\.5\.5-)?(\d+(?:\.\d+)*)/.exec(version) ?? [];
  return `${serverKind(version).mariadb ? 'MariaDB' : 'MySQL'} ${number}`;
}

const atLeast = ({ major, minor, patch }: ServerKind, wantedMajor: number, wantedMinor: number, wantedPatch = 0): boolean =>
  major > wantedMajor || (major === wantedMajor && (minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch)));

/** `CREATE TRIGGER IF NOT EXISTS`: MySQL 8.0.29, and every supported MariaDB. */
export const createsTriggerIfMissing = (kind: ServerKind): boolean => kind.mariadb || atLeast(kind, 8, 0, 29);

export const transactionSetting = (kind: ServerKind, name: 'isolation' | 'read_only'): string =>
  `${kind.mariadb && !atLeast(kind, 11, 2) ? 'tx' : 'transaction'}_${name}`;
