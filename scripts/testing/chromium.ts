/** Finds the browser of the browser tests, or gets it where that takes no question. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from '@playwright/test';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium'];

/** Path of a Chromium: CHROMIUM_PATH, the system's, or one that Playwright installed; null when there is none. */
export function findChromium(): string | null {
  const wanted = process.env.CHROMIUM_PATH;
  if (wanted) {
    if (!fs.existsSync(wanted)) throw new Error(`CHROMIUM_PATH names ${wanted}, which does not exist`);
    return wanted;
  }
  const folders = ['/usr/bin', ...(process.env.PATH ?? '').split(path.delimiter)].filter((folder) => path.isAbsolute(folder));
  const candidates = [...NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))), ...MAC, chromium.executablePath()];
  return candidates.find((candidate) => fs.existsSync(candidate)) ?? null;
}

/** As `findChromium`, but installs Debian's package when running as root there; otherwise throws the one command to run. */
export function ensureChromium(): string {
  const found = findChromium();
  if (found) return found;
  const debian = fs.existsSync('/usr/bin/apt-get');
  if (!debian || process.getuid?.() !== 0) {
    const command = debian ? 'sudo apt-get install -y --no-install-recommends chromium fonts-noto-cjk' : 'npx playwright install chromium';
    throw new Error(`The browser tests need Chromium. Run: ${command}   (or set CHROMIUM_PATH to one)`);
  }
  console.log('  installing Chromium with apt-get');
  for (const parameters of [
    ['update', '-q'],
    ['install', '-y', '-q', '--no-install-recommends', 'chromium', 'fonts-noto-cjk'],
  ]) {
    const run = spawnSync('apt-get', parameters, { encoding: 'utf8', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
    if (run.status !== 0) throw new Error(`apt-get ${parameters.join(' ')} failed:\n${run.stdout}${run.stderr}`);
  }
  const installed = findChromium();
  if (!installed) throw new Error('apt-get installed chromium, but it is not at any of the usual places; set CHROMIUM_PATH');
  return installed;
}
