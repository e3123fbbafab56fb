/** Numbers a person feels: script weight of a cold load, layout shift, horizontal scroll, serious axe findings. */
import { gzipSync } from 'node:zlib';
import AxeBuilder from '@axe-core/playwright';
import type { Page, Response } from '@playwright/test';

interface ScriptBytes {
  total: number;
  files: { url: string; bytes: number }[];
  /** Addresses of files that the server did not compress. */
  plain: string[];
}

/** Bytes of all script of a cold load of `path`, gzip-compressed one file at a time as the server sends them. */
export async function scriptBytes(page: Page, path: string): Promise<ScriptBytes> {
  const files: ScriptBytes['files'] = [];
  const plain: string[] = [];
  const reading: Promise<void>[] = [];
  const read = (response: Response): void => {
    if (response.request().resourceType() !== 'script') return;
    // Below 1 kB it is not worth it.
    if (response.headers()['content-encoding'] !== 'gzip' && Number(response.headers()['content-length']) > 1_024)
      plain.push(response.url());
    reading.push(response.body().then((body) => void files.push({ url: response.url(), bytes: gzipSync(body).length })));
  };
  page.on('response', read);
  await page.goto(path, { waitUntil: 'networkidle' });
  // What comes later is not of the cold load, and the page may be closed before it is read.
  page.off('response', read);
  await Promise.all(reading);
  files.sort((a, b) => b.bytes - a.bytes);
  return { total: files.reduce((sum, file) => sum + file.bytes, 0), files, plain };
}

/** Call before the page is opened; the answer is the sum of all shifts that no input caused. */
export async function observeLayoutShift(page: Page): Promise<() => Promise<{ total: number; sources: string[] }>> {
  await page.addInitScript(() => {
    const seen = { total: 0, sources: [] as string[] };
    (window as unknown as { __shift: typeof seen }).__shift = seen;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as (PerformanceEntry & {
        value: number;
        hadRecentInput: boolean;
        sources: { node?: Element }[];
      })[]) {
        if (entry.hadRecentInput) continue;
        seen.total += entry.value;
        for (const { node } of entry.sources)
          seen.sources.push(`${entry.value.toFixed(4)} ${node?.nodeName ?? '?'} ${node?.textContent?.slice(0, 60) ?? ''}`);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return () => page.evaluate(() => (window as unknown as { __shift: { total: number; sources: string[] } }).__shift);
}

/** True when the page can be scrolled sideways. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

/** Findings of axe, one line each with the element: the serious and critical ones, or those of the impacts named. */
export async function axeFindings(page: Page, impacts = ['serious', 'critical']): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).analyze();
  return violations
    .filter(({ impact }) => impacts.includes(impact ?? ''))
    .flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help} – ${node.target.join(' ')} – ${node.failureSummary?.split('\n').at(1)?.trim() ?? ''}`),
    );
}
