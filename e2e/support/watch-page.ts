/** Collects what a page must not do: log an error, throw, or break its content security policy. */
import type { Page } from '@playwright/test';

export interface PageWatch {
  /** Errors matching this are expected by the story. */
  allow(pattern: RegExp): void;
  /** Everything seen that was not allowed. */
  problems(): string[];
}

export async function watchPage(page: Page): Promise<PageWatch> {
  const seen: string[] = [];
  const allowed: RegExp[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') seen.push(`console.error at ${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => seen.push(`uncaught at ${page.url()}: ${error.stack ?? error.message}`));
  await page.exposeFunction('__reportViolation', (text: string) => {
    seen.push(`CSP violation at ${page.url()}: ${text}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      const report = (window as unknown as { __reportViolation: (text: string) => void }).__reportViolation;
      report(`${event.violatedDirective} blocked ${event.blockedURI} (${event.sample})`);
    });
  });
  return {
    allow: (pattern) => void allowed.push(pattern),
    problems: () => seen.filter((problem) => !allowed.some((pattern) => pattern.test(problem))),
  };
}
