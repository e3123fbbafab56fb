/**
 * `npm run demo` and `npm run dev`: the whole demo in one command. Owns the signals; what it started ends with it.
 * `--dev` serves with hot reload, `--no-console` serves nothing but runs everything else.
 * Exit codes: 0 stopped as asked, 1 something failed or broke down, 78 refused.
 */
import { readDemoEnvironment } from './env';
import { DemoRun, type Demo } from './start/start-demo';

const REFUSED = 78;
const ONE_REQUEST_MS = 1_000;

async function main(): Promise<void> {
  const reading = readDemoEnvironment();
  if (!reading.ok) {
    console.error(`The demo does not start:\n${reading.problems.map((problem) => `  ${problem}`).join('\n')}`);
    process.exit(REFUSED);
  }
  const startedAt = Date.now();
  const log = (line: string) => console.log(`[${((Date.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s] ${line}`);
  const run = new DemoRun({
    env: reading.env,
    serveConsole: !process.argv.includes('--no-console'),
    dev: process.argv.includes('--dev'),
    log,
  });

  let asked = false;
  let askedAt = 0;
  const stop = (signal: NodeJS.Signals) => {
    // A signal to the whole group arrives twice: from the terminal, and passed on by npm.
    if (asked && Date.now() - askedAt < ONE_REQUEST_MS) return;
    if (asked) {
      run.kill();
      process.exit(signal === 'SIGINT' ? 130 : 143);
    }
    asked = true;
    askedAt = Date.now();
    log(`stopping (${signal}); once more to force it`);
    run.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(run, error),
    );
  };
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGHUP', () => stop('SIGTERM'));
  // A closed terminal must not keep us from ending what we started.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);

  try {
    const demo = await Promise.race([run.start(), run.broken]);
    if (!asked) announce(demo);
    await run.broken;
  } catch (error) {
    if (asked) return;
    asked = true;
    await fail(run, error);
  }
}

async function fail(run: DemoRun, error: unknown): Promise<void> {
  console.error(error instanceof Error ? error.message : error);
  await run.stop().catch(() => run.kill());
  process.exit(1);
}

function announce({ accounts, password, token, sinkUrl, hostUrl, config, url }: Demo): void {
  console.log(`
Sign in as one of
${accounts.map(({ email, role }) => `  ${email.padEnd(24)} ${role}`).join('\n')}
with the password  ${password}
API token of role operator  ${token}
Sink  ${sinkUrl}    Configuration  ${config}
A page elsewhere that embeds cards  ${hostUrl}
`);
  console.log(`ready ${url}`);
}

void main();
