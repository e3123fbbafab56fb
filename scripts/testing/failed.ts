import type { RunnerTestCase, RunnerTestSuite } from 'vitest';

/** Whether anything in a test file failed: then its database is kept for a look. */
export function failed(task: RunnerTestSuite | RunnerTestCase): boolean {
  if (task.result?.state === 'fail') return true;
  return 'tasks' in task && task.tasks.some((child) => failed(child));
}
