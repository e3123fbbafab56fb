/** Starts the demo once for all stories, on a port and in a folder of its own, and stops it after them. */
import fs from 'node:fs';
import path from 'node:path';
import { makeDataFolder } from '@/scripts/testing/data-folder';
import { freePort, startScript, stopGroup, untilReady } from './programs';

export default async function globalSetup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.E2E_WORLD) return undefined;
  const folder = makeDataFolder('outbox-console-e2e-');
  // Under root the demo's PostgreSQL runs as another user, who has to pass through.
  fs.chmodSync(folder, 0o711);
  const log = path.join(folder, 'demo.log');
  const demo = startScript('demo', {
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
    OUTBOX_DEMO_DIR: path.join(folder, 'world'),
    OUTBOX_DEMO_STATE: path.join(folder, 'state'),
    OUTBOX_DEMO_PASSWORD: 'stories-need-a-long-password',
    OUTBOX_DEMO_TOKEN: 'obx_stories_0123456789abcdef0123456789abcdef',
  });
  const stop = async (): Promise<void> => {
    await stopGroup(demo);
    fs.rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(demo, log);
  } catch (error) {
    await stopGroup(demo);
    throw new Error(`The demo did not start:\n${fs.readFileSync(log, 'utf8')}`, { cause: error });
  }
  process.env.E2E_WORLD = path.join(folder, 'state', 'demo.json');
  return stop;
}
