/** `npm run console -- <verb>`: the command line. Standard output holds nothing but the answer. */
import { text } from 'node:stream/consumers';
import { Command, CommanderError } from 'commander';
import type { Config } from '@/lib/config/config';
import { directoryOptions } from '@/lib/config/directory-options';
import { changeAccount, createAccount } from '@/lib/identity/accounts';
import { createToken, revokeToken } from '@/lib/identity/tokens';
import { applyInstall, bindForInstall, installScript } from '@/lib/interventions/install';
import { createDirectory } from '@/lib/outbox/directory';
import { ROLES } from '@/lib/shared/permissions';
import { migrateStore, openStore, type Store } from '@/lib/store/store';
import { addDetect } from './detection/command';
import { addDoctor } from './doctor/command';
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

async function passwordFromStandardInput(given: boolean | undefined): Promise<string> {
  if (given !== true)
    throw new CommandFailure(
      'Give the password on standard input, with --password-stdin: on the command line others could read it',
      EXIT_USAGE,
    );
  return (await text(process.stdin)).replace(/\r?\n$/, '');
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

const user = program.command('user').description('accounts that sign in with a password').exitOverride();

user
  .command('create')
  .description('create an account')
  .requiredOption('--email <address>', 'address to sign in with')
  .requiredOption('--role <role>', `one of ${ROLES.join(', ')}`)
  .option('--password-stdin', 'read the password from standard input')
  .option('--json', 'answer {id, email, role}')
  .action(async (options: { email: string; role: string; passwordStdin?: boolean; json?: boolean }) => {
    const password = await passwordFromStandardInput(options.passwordStdin);
    await withStore(async (store) => {
      const id = await createAccount(store, { email: options.email, role: options.role, password });
      answer(
        options.json === true
          ? JSON.stringify({ id, email: options.email, role: options.role })
          : `created ${options.email} (${options.role})`,
      );
    });
  });

user
  .command('set')
  .description('change an account; its sessions end')
  .requiredOption('--email <address>', 'whose')
  .option('--role <role>', `one of ${ROLES.join(', ')}`)
  .option('--password-stdin', 'read a new password from standard input')
  .option('--disable', 'the account can no longer sign in')
  .option('--enable', 'the account can sign in again')
  .action(async (options: { email: string; role?: string; passwordStdin?: boolean; disable?: boolean; enable?: boolean }) => {
    if (options.disable === true && options.enable === true) throw new CommandFailure('Choose one of --disable and --enable', EXIT_USAGE);
    const disabled = options.disable === true ? true : options.enable === true ? false : undefined;
    const password = options.passwordStdin === true ? await passwordFromStandardInput(true) : undefined;
    if (options.role === undefined && password === undefined && disabled === undefined)
      throw new CommandFailure('Say what to change', EXIT_USAGE);
    await withStore((store) => changeAccount(store, options.email, { role: options.role, password, disabled }));
    answer(`changed ${options.email}`);
  });

const token = program.command('token').description('tokens for scripts').exitOverride();

token
  .command('create')
  .description('create a token and answer it, once')
  .requiredOption('--name <name>', 'what the audit calls it')
  .requiredOption('--role <role>', `one of ${ROLES.join(', ')}`)
  .option('--json', 'answer {token}')
  .action((options: { name: string; role: string; json?: boolean }) =>
    withStore(async (store) => {
      const created = await createToken(store, options);
      answer(options.json === true ? JSON.stringify({ token: created }) : created);
    }),
  );

token
  .command('revoke')
  .description('end a token at once')
  .requiredOption('--name <name>', 'which')
  .action(async (options: { name: string }) => {
    await withStore((store) => revokeToken(store, options.name));
    answer(`revoked ${options.name}`);
  });

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
