import { access, constants, mkdir, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { unprivilegedAccount } from './processes';
import { openProgramsFolder } from './binaries';
import { defaultProgramsFolder } from './embedded-postgres';

export interface Placement {
  dir: string;
  shelter: string;
}

/** Below `<home>/<name>`, or in the shelter when that was chosen or PostgreSQL's user could not enter; a `.pointer.json` says where. */
export async function placeEmbeddedPostgres(
  root: string,
  name: string,
  demoDir: string | undefined,
  home = path.join(root, '.outbox-console'),
): Promise<Placement> {
  await mkdir(home, { recursive: true, mode: 0o755 });
  await mustBeWritable(home);
  const shelter = demoDir ? path.resolve(demoDir) : defaultProgramsFolder();
  if (demoDir === undefined && (await unprivilegedAccount()) === null) return { dir: path.join(home, name), shelter };
  await openProgramsFolder(shelter);
  // Two clones on one machine must not share data.
  const dir = path.join(shelter, `${name}-${createHash('sha256').update(path.resolve(home)).digest('hex').slice(0, 12)}`);
  await writeFile(path.join(home, `${name}.pointer.json`), `${JSON.stringify({ dir }, null, 2)}\n`, { mode: 0o600 });
  return { dir, shelter };
}

async function mustBeWritable(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new Error(
      `${folder} cannot be written by this user, probably because root has made it. Remove it, or run as the user it belongs to.`,
      { cause },
    );
  }
}
