/** `npm run console -- <verb>`: the command line. Standard output holds nothing but the answer. */
import { Command, CommanderError } from 'commander';
import type { Config } from '@/lib/config/config';
import { directoryOptions, createDirectory } from '@/lib/outbox/directory';
import { applyInstall, bindForInstall, installScript } from '@/lib/interventions/install/install';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { addDetect } from './detection/command';
import { addDoctor } from './doctor/command';
import { addToken, addUser } from './identity/command';
import { addProve } from './proving/command';
import { CommandFailure, EXIT_FAILED, EXIT_USAGE, requireLogin, requireOutbox, sentenceOf } from './starting/command-failure';
import { ofInstall } from './starting/install-refused';
import { ownStore } from './starting/own-store';
import { EXIT_CONFIG, readSettings, reportProblems } from './starting/settings';

const answer = (line: string): void => void process.stdout.write(`${line}\n`);

async function configuration(): Promise<Config> {
  const { config, problems } = await readSettings();
  if (config === null || problems.length > 0) {
    reportProblems(problems, 'The configuration cannot be used');
    throw new CommandFailure('', EXIT_CONFIG);
  }
  return config;
}

/** Runs on the store, brought up to date first, so that a fresh installation needs no order of commands. */
async function withStore<T>(work: (store: Store, applied: string[]) => Promise<T>): Promise<T> {
  const place = await ownStore(await configuration(), { share: true });
  try {
    const migrated = await migrateStore(place.url);
    if (!migrated.ok)
      throw new CommandFailure(`store: ${migrated.why === 'unreachable' ? sentenceOf(migrated.cause) : migrated.detail}`, EXIT_CONFIG);
    const store = openStore(place.url);
    try {
      return await work(store, migrated.applied);
    } finally {
      await store.close();
    }
  } finally {
    await place.stop();
  }
}

const program = new Command('console')
  .description('Outbox Console on the command line')
  .usage('<verb> [options]')
  .exitOverride()
  .showHelpAfterError('Add --help to see how it is used.');

program
  .command('migrate')
  .description('bring the store up to date')
  .option('--json', 'answer {applied: [names]}')
  .action((options: { json?: boolean }) =>
    withStore((_, applied) => {
      if (options.json === true) answer(JSON.stringify({ applied }));
      else answer(applied.length === 0 ? 'up to date' : `applied ${applied.join(', ')}`);
      return Promise.resolve();
    }),
  );

addUser(program, { withStore, answer });
addToken(program, { withStore, answer });

program
  .command('install')
  .description('print what an outbox needs in its own database before it can be changed, for its owner to read and run')
  .argument('<outbox>', 'id of the outbox')
  .option('--apply', 'run it instead of printing it')
  .option('--url <url>', "login to run it with: the table's owner or a superuser")
  .action(async (id: string, options: { apply?: boolean; url?: string }) => {
    const config = await configuration();
    requireOutbox(config, id);
    await requireLogin(options.url);
    const directory = createDirectory(directoryOptions(config));
    try {
      const own = config.databases.find((database) => database.id === directory.database(id).id);
      const url = options.url ?? own?.operatorUrl ?? own?.url;
      const outbox = await bindForInstall(directory.settings(id), directory.database(id), url);
      if (options.apply !== true) {
        process.stdout.write(await installScript(outbox, url));
        return;
      }
      if (url === undefined) throw new CommandFailure(`There is no login for database ${outbox.database.id}`, EXIT_CONFIG);
      for (const { why, sql } of await applyInstall(outbox, url))
        process.stderr.write(`left out, as this login may not: ${sql};\n  ${why}\n`);
      answer(`installed ${id}`);
    } catch (error) {
      throw ofInstall(error, options.url !== undefined);
    } finally {
      await directory.close();
    }
  });

addDetect(program, {
  configuration,
  answer,
  failure: (message, status) => new CommandFailure(message, { usage: EXIT_USAGE, failed: EXIT_FAILED, config: EXIT_CONFIG }[status]),
});
addDoctor(program, { configuration, withStore });
addProve(program, { configuration, withStore, answer });

function statusOf(error: unknown): number {
  // Commander has said what is wrong; asking for help is no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof CommandFailure) {
    if (error.message !== '') process.stderr.write(`${error.message}\n`);
    return error.status;
  }
  process.stderr.write(`${sentenceOf(error)}\n`);
  return EXIT_FAILED;
}

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = statusOf(error);
}
