/** Runs the stages of `npm test` and `npm run check`: their processes, their output, their counts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { descendantsOf } from './processes';

export interface Counts {
  passed: number;
  /** Failed first and passed when tried again: no pass, and no failure. */
  again?: number;
  failed: number;
}

export interface Stage {
  name: string;
  /** Program and arguments; run one after the other, the first failing one ends the stage. */
  commands: readonly (readonly string[])[];
  env?: Record<string, string>;
  /** Reads the stage's own report; without it the stage is one test that passed when every command exited 0. */
  count?: () => Counts | null;
  /** It is stopped when it has printed nothing for so long: a busy machine makes it slower, not silent. */
  silentSeconds: number;
}

export interface StageResult extends Counts {
  name: string;
  seconds: number;
}

const running = new Set<ChildProcess>();
let stopping = false;

/** Runs one stage and prints its line; the output of its commands is printed only when it failed. */
export async function runStage(stage: Stage): Promise<StageResult> {
  const started = Date.now();
  let output = '';
  let code = 0;
  for (const command of stage.commands) {
    if (stopping) break;
    const run = await runCommand(command, stage);
    output += run.output;
    code = run.code;
    if (code !== 0) break;
  }
  const counts = judge(stage, code);
  const seconds = (Date.now() - started) / 1000;
  if (counts.failed > 0 && !stopping)
    console.log(`\n── ${stage.name} ${'─'.repeat(60)}\n${output.trimEnd()}\n${'─'.repeat(64 + stage.name.length)}`);
  const mark = counts.failed > 0 ? '✗' : '✓';
  const again = counts.again ? `${String(counts.again)} passed only when tried again, ` : '';
  console.log(
    `${mark} ${stage.name.padEnd(10)} ${String(counts.passed)} passed, ${again}${String(counts.failed)} failed (${seconds.toFixed(1)} s)`,
  );
  return { name: stage.name, seconds, ...counts };
}

/** A stage that cannot start, for instance because what it stands on failed. */
export function failedStage(name: string, why: string): StageResult {
  console.log(`✗ ${name.padEnd(10)} not run: ${why}`);
  return { name, seconds: 0, passed: 0, failed: 1 };
}

/** Sums the stages and prints the last line: `N passed, N failed`; before it, how many passed only when tried again. */
export function finish(results: readonly StageResult[]): void {
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  const again = results.reduce((sum, result) => sum + (result.again ?? 0), 0);
  if (again > 0) console.log(`${String(again)} passed only when tried again`);
  console.log(`${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function judge(stage: Stage, code: number): Counts {
  if (!stage.count) return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const counts = stage.count();
  // No report, no test, or a failure outside every test (a file that does not load, a server that does not start).
  if (counts === null || counts.passed + (counts.again ?? 0) + counts.failed === 0) return { passed: 0, failed: 1 };
  if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1 };
  return counts;
}

function runCommand(command: readonly string[], stage: Stage): Promise<{ code: number; output: string }> {
  const [program = '', ...parameters] = command;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    // A process group of its own, so that whatever it starts can be stopped with it.
    const child = spawn(program, parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', NEXT_TELEMETRY_DISABLED: '1', ...stage.env },
    });
    running.add(child);
    const silent = setTimeout(() => {
      chunks.push(Buffer.from(`\nStopped: it had printed nothing for ${String(stage.silentSeconds)} s.\n`));
      void stop(child);
    }, stage.silentSeconds * 1000);
    const hear = (chunk: Buffer): void => {
      chunks.push(chunk);
      silent.refresh();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', (error) => chunks.push(Buffer.from(`${program}: ${error.message}\n`)));
    child.on('close', (code) => {
      clearTimeout(silent);
      running.delete(child);
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString('utf8') });
    });
  });
}

const GRACE_MS = 8000;

/**
 * SIGTERM to the group and to everything it has started, in groups of their own too (a PostgreSQL, a browser, a
 * console); SIGKILL to what is left after the grace. Resolves when nothing is.
 */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const started = descendantsOf(child.pid);
  signal(-child.pid, 'SIGTERM');
  for (const pid of started) signal(pid, 'SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  const isLeft = (): boolean => running.has(child) || started.some((pid) => signal(pid, 0));
  while (isLeft() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 100));
  signal(-child.pid, 'SIGKILL');
  for (const pid of started) signal(pid, 'SIGKILL');
}

/** True when there was somebody to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Ctrl-C and SIGTERM stop every stage, wait for it, and end with the signal's usual code. */
export function stopOnSignals(): void {
  for (const [name, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(name, () => {
      if (stopping) return;
      stopping = true;
      console.error(`${name}: stopping`);
      void Promise.all([...running].map(stop)).then(() => process.exit(code));
    });
  }
}
