import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './scripts/testing/patience.ts';

const root = import.meta.dirname;

/**
 * One project per need: `unit` needs nothing, `db` an embedded PostgreSQL and a MariaDB for the run, `race` the relays and
 * minutes. Files share a process and its modules, which is a fifth of the time: nothing is mocked, and what a file changes of
 * its process it puts back.
 */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@\//, replacement: `${root}/` },
      // Marks modules for Next's bundler; under plain Node its other entry throws on purpose.
      { find: 'server-only', replacement: path.join(root, 'node_modules/server-only/empty.js') },
    ],
  },
  test: {
    environment: 'node',
    exclude: ['node_modules/**', '.next*/**', '.outbox-console/**'],
    // Two cores: more workers only take turns.
    maxWorkers: 2,
    // What is waited for comes when the machine has time for it: clocks here end what hangs, and are no measure of anything.
    expect: { poll: { timeout: PATIENCE_MS } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{app,components,lib,demo,bench,scripts}/**/*.test.{ts,tsx}', 'e2e/support/**/*.test.ts'],
          exclude: ['**/*.db.test.ts', '**/node_modules/**'],
          testTimeout: 600_000,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'db',
          include: ['{app,lib,demo,bench,scripts}/**/*.db.test.ts', 'e2e/support/**/*.db.test.ts'],
          globalSetup: ['scripts/testing/postgres.ts', 'scripts/testing/mariadb.ts'],
          // One more than cores, as they often wait for what is promised after seconds; with two more the cores are busy and all wait longer.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 600_000,
          hookTimeout: 600_000,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'race',
          include: ['e2e/{races,faults,runs}/**/*.race.test.ts'],
          maxConcurrency: 2,
          globalSetup: ['scripts/testing/postgres.ts', 'scripts/testing/mariadb.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
