import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { SUPPORTED, loadConfig } from '@/lib/config/load';
import { applyInstall, bindForInstall } from '@/lib/interventions/install/install';
import { loginsOf } from './configuration';
import type { DatabaseLogins } from './logins';

/** What `npm run console -- install <outbox> --apply` does, for every outbox of the configuration. */
export async function installCompanions(configPath: string, logins: Map<string, DatabaseLogins>): Promise<void> {
  const reading = await loadConfig(configPath, SUPPORTED, () => undefined);
  if (!reading.ok) throw new Error(`The demo's configuration is not usable:\n${reading.problems.join('\n')}`);
  const directory = createDirectory(directoryOptions(reading.config));
  try {
    await Promise.all(
      directory.ids.map(async (id) => {
        const { everything } = loginsOf(logins, id);
        await applyInstall(await bindForInstall(directory.settings(id), directory.database(id), everything), everything);
      }),
    );
  } finally {
    await directory.close();
  }
}
