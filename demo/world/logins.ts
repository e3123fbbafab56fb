import { randomBytes } from 'node:crypto';

/** Connection strings of one outbox's database. */
export interface DatabaseLogins {
  /** May read and write everything. */
  everything: string;
  reader: string;
  operator: string;
}

export function newPassword(): string {
  return randomBytes(18).toString('base64url');
}

/** The same database as somebody else. */
export function login(url: string, user: string, password: string): string {
  const changed = new URL(url);
  changed.username = user;
  changed.password = password;
  return changed.href;
}
