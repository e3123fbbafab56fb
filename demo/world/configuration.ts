import { rename, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { DemoOutbox } from '../outboxes/outbox';
import type { DatabaseLogins } from './logins';

/** The console's configuration for the demo's outboxes, as a YAML text. */
export function configurationText(
  given: { store: string; embedding?: Record<string, unknown> },
  outboxes: readonly DemoOutbox[],
  logins: Map<string, DatabaseLogins>,
): string {
  const databases = Object.fromEntries(
    outboxes.map(({ id }) => {
      const { reader, operator } = loginsOf(logins, id);
      return [id, { url: reader, operatorUrl: operator }];
    }),
  );
  const document = {
    store: given.store,
    databases,
    outboxes: outboxes.map(({ id, name, tableName, shape, settings }) => ({
      id,
      name,
      database: id,
      table: tableName,
      shape,
      ...settings,
    })),
    ...(given.embedding && { embedding: given.embedding }),
  };
  // Without aliases: settings shared by several outboxes are written out for each.
  return `# Written by the demo at every start.\n${stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })}`;
}

export function loginsOf(logins: Map<string, DatabaseLogins>, id: string): DatabaseLogins {
  const found = logins.get(id);
  if (found === undefined) throw new Error(`no logins for outbox ${id}`);
  return found;
}

/** Writes a file that holds passwords: mode 600 from its first byte, never seen half written. */
export async function writeSecret(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, file);
}
