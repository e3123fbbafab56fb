import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { processTable } from './processes';
import { runStage } from './stage-runner';
import { countPlaywright, countVitest } from './stages';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'outbox-console-stages-'));
afterAll(() => {
  fs.rmSync(folder, { recursive: true });
});

function report(value: unknown): string {
  const file = path.join(folder, 'report.json');
  fs.writeFileSync(file, JSON.stringify(value));
  return file;
}

const exits = (code: number) => [process.execPath, '-e', `process.exit(${String(code)})`];
const stage = { name: 'trial', commands: [exits(0)], silentSeconds: 10 };

describe('counting', () => {
  it('takes a skipped test for a failed one, and one that passed when tried again for neither', () => {
    const passed = { status: 'passed', failureMessages: [] };
    const again = { status: 'passed', failureMessages: ['expected 1 to be 2'] };
    const testResults = [{ assertionResults: [passed, passed, again] }, { assertionResults: [passed] }];
    expect(countVitest(report({ numPassedTests: 4, numTotalTests: 7, testResults }))).toEqual({ passed: 3, again: 1, failed: 3 });
    const stats = { expected: 4, unexpected: 1, flaky: 1, skipped: 2 };
    expect(countPlaywright(report({ stats }))).toEqual({ passed: 4, again: 1, failed: 3 });
  });

  it('has nothing to say without a report', () => {
    expect(countVitest(path.join(folder, 'none.json'))).toBeNull();
  });
});

describe('a stage', () => {
  it('without a report of its own is one test', async () => {
    expect(await runStage(stage)).toMatchObject({ passed: 1, failed: 0 });
    expect(await runStage({ ...stage, commands: [exits(0), exits(3)] })).toMatchObject({ passed: 0, failed: 1 });
  });

  it('that ran no test has failed', async () => {
    expect(await runStage({ ...stage, count: () => ({ passed: 0, failed: 0 }) })).toMatchObject({ failed: 1 });
    expect(await runStage({ ...stage, count: () => null })).toMatchObject({ failed: 1 });
  });

  it('that exits badly has failed, whatever it counted', async () => {
    const counted = { ...stage, commands: [exits(1)], count: () => ({ passed: 9, failed: 0 }) };
    expect(await runStage(counted)).toMatchObject({ passed: 9, failed: 1 });
  });

  it('that says nothing for too long is stopped and has failed', async () => {
    const hung = { ...stage, commands: [[process.execPath, '-e', 'setInterval(() => {}, 1000)']], silentSeconds: 0.3 };
    expect(await runStage(hung)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('that is slow and says how far it is may take its time', async () => {
    const slow = `let n = 0; setInterval(() => { console.log(n); if (++n === 12) process.exit(0); }, 250);`;
    expect(await runStage({ ...stage, commands: [[process.execPath, '-e', slow]], silentSeconds: 2 })).toMatchObject({ passed: 1 });
  });

  it('that is stopped takes with it what it has started, without a program that lists processes', async () => {
    const file = path.join(folder, 'started');
    const child = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })`;
    const starts = `require('node:fs').writeFileSync(${JSON.stringify(file)}, String(${child}.pid)); setInterval(() => {}, 1000)`;
    const had = process.env.PATH;
    process.env.PATH = folder;
    try {
      await runStage({ ...stage, commands: [[process.execPath, '-e', starts]], silentSeconds: 2 });
    } finally {
      process.env.PATH = had;
    }
    const pid = Number(fs.readFileSync(file, 'utf8'));
    await expect.poll(() => processTable().some((each) => each.pid === pid)).toBe(false);
  });
});
