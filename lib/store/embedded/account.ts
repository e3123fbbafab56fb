import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A user of this machine that PostgreSQL may run as. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

const execFileAsync = promisify(execFile);

/**
 * The account PostgreSQL is to run as: null when this process is an ordinary user and can run it itself, since only
 * root is refused by it. As root: `postgres` where the machine has one, else `nobody`.
 */
export async function unprivilegedAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const account = await lookUp(name);
    if (account) return account;
  }
  throw new Error(
    'PostgreSQL does not run as root, and this machine has neither a user `postgres` nor `nobody` to run it as. Create one, or start as an ordinary user.',
  );
}

async function lookUp(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([execFileAsync('id', ['-u', name]), execFileAsync('id', ['-g', name])]);
    // macOS writes nobody's -2 as 4294967294; Node wants the signed number.
    return { name, uid: Number(uid.stdout) | 0, gid: Number(gid.stdout) | 0 };
  } catch {
    return null;
  }
}
