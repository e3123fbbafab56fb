/** `user …` and `token …`: accounts that sign in with a password, and tokens for scripts. */
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { changeAccount, createAccount } from '@/lib/identity/accounts';
import { createToken, revokeToken } from '@/lib/identity/tokens';
import { ROLES } from '@/lib/shared/permissions';
import { selectAccounts } from '@/lib/store/accounts';
import { selectApiTokens } from '@/lib/store/api-tokens';
import type { Store } from '@/lib/store/store';
import { columns } from '../columns';
import { CommandFailure, EXIT_USAGE } from '../starting/command-failure';

export interface IdentityTools {
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
  answer(line: string): void;
}

const ROLE = `one of ${ROLES.join(', ')}`;

async function passwordFromStandardInput(given: boolean | undefined): Promise<string> {
  if (given !== true)
    throw new CommandFailure(
      'Give the password on standard input, with --password-stdin: on the command line others could read it',
      EXIT_USAGE,
    );
  return (await text(process.stdin)).replace(/\r?\n$/, '');
}

export function addUser(program: Command, { withStore, answer }: IdentityTools): void {
  const user = program.command('user').description('accounts that sign in with a password').exitOverride();

  user
    .command('create')
    .description('create an account')
    .requiredOption('--email <address>', 'address to sign in with')
    .requiredOption('--role <role>', ROLE)
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
    .command('list')
    .description('list the accounts, and when each signed in last')
    .option('--json', 'answer {users: [{id, email, role, disabled, createdAt, lastSignInAt}]}')
    .action((options: { json?: boolean }) =>
      withStore(async (store) => {
        const users = await selectAccounts(store.db);
        if (options.json === true) return answer(JSON.stringify({ users }));
        const rows = users.map(({ email, role, disabled, lastSignInAt }) => [
          email,
          role,
          disabled ? 'disabled' : 'enabled',
          lastSignInAt ?? 'never',
        ]);
        for (const line of columns([['E-MAIL', 'ROLE', 'STATE', 'LAST SIGN-IN'], ...rows])) answer(line);
      }),
    );

  user
    .command('set')
    .description('change an account; its sessions end')
    .requiredOption('--email <address>', 'whose')
    .option('--role <role>', ROLE)
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
}

export function addToken(program: Command, { withStore, answer }: IdentityTools): void {
  const token = program.command('token').description('tokens for scripts').exitOverride();

  token
    .command('create')
    .description('create a token and answer it, once')
    .requiredOption('--name <name>', 'what the audit calls it')
    .requiredOption('--role <role>', ROLE)
    .option('--days <days>', 'end it by itself after so many days; without this it ends when it is revoked', wholeDays)
    .option('--json', 'answer {token}')
    .action((options: { name: string; role: string; days?: number; json?: boolean }) =>
      withStore(async (store) => {
        const created = await createToken(store, options);
        answer(options.json === true ? JSON.stringify({ token: created }) : created);
      }),
    );

  token
    .command('list')
    .description('list the tokens that work, without what they are; --all: those that have ended too')
    .option('--all', 'ended ones too')
    .option('--json', 'answer {tokens: [{id, name, role, createdAt, lastUsedAt, expiresAt, revokedAt}]}')
    .action((options: { all?: boolean; json?: boolean }) =>
      withStore(async (store) => {
        const tokens = await selectApiTokens(store.db, { ended: options.all === true });
        if (options.json === true) return answer(JSON.stringify({ tokens }));
        const rows = tokens.map(({ name, role, expiresAt, lastUsedAt, revokedAt }) => [
          name,
          role,
          revokedAt === null ? (expiresAt ?? 'when revoked') : `revoked ${revokedAt}`,
          lastUsedAt ?? 'never',
        ]);
        for (const line of columns([['NAME', 'ROLE', 'ENDS', 'LAST USED'], ...rows])) answer(line);
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
}

function wholeDays(text: string): number {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > 3_650) throw new CommandFailure('--days: write a whole number of days, 1 to 3650', EXIT_USAGE);
  return days;
}
