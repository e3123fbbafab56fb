import { defineConfig, devices } from '@playwright/test';
import { findChromium } from './scripts/testing/chromium';

/**
 * After the others: what a reading moves is measured while no story adds to the lists, two hundred outboxes take the machine, and so does the
 * build that a base path needs.
 */
const STILL = '**/still.spec.ts';
const BIG_FLEET = '**/big-fleet.spec.ts';
const BASE_PATH = '**/base-path.spec.ts';

/**
 * The browser stories, against the built app and the demo's world. `E2E_WORLD=<path of a demo.json>` uses a demo that
 * is already running; without it e2e/support/global-setup.ts starts one of its own.
 */
export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results',
  globalSetup: './e2e/support/global-setup.ts',
  // One more than the two cores: several stories wait a minute for what is promised after a minute.
  workers: 3,
  fullyParallel: true,
  projects: [
    { name: 'stories', testIgnore: [STILL, BIG_FLEET, BASE_PATH] },
    { name: 'still', testMatch: STILL, dependencies: ['stories'] },
    { name: 'big-fleet', testMatch: BIG_FLEET, dependencies: ['still'] },
    { name: 'base-path', testMatch: BASE_PATH, dependencies: ['big-fleet'] },
  ],
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  // Clocks here end what hangs; what is slow on a busy machine is waited for.
  timeout: 600_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  use: {
    ...devices['Desktop Chrome'],
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
    actionTimeout: 120_000,
    navigationTimeout: 120_000,
    // A trace of every story costs a third of the time; `--trace retain-on-failure` has one of those that fail.
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: findChromium() ?? undefined,
      args: [
        // As root, in a container, Chromium's own sandbox cannot be made; the pages are ours.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
});
