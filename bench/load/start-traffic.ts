import { fork } from 'node:child_process';
import path from 'node:path';

export interface TrafficOptions {
  /** A login that may write the table `outbox_events` of a published-at outbox. */
  url: string;
  perSecond: number;
  /** Rest between two batches. */
  tickMs: number;
}

export interface TrafficReport {
  /** Milliseconds of each claim since the last report. */
  claims: number[];
  /** Events published since the start. */
  published: number;
}

export interface Traffic {
  report(): Promise<TrafficReport>;
  stop(): Promise<void>;
}

export function startTraffic(options: TrafficOptions): Traffic {
  const child = fork(path.join(import.meta.dirname, 'traffic.ts'), [JSON.stringify(options)], { execArgv: ['--import', 'tsx'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    report: () =>
      new Promise((resolve, reject) => {
        child.once('message', (message) => resolve(message as TrafficReport));
        void ended.then((code) => reject(new Error(`The traffic ended with code ${String(code)}`)));
        child.send('report');
      }),
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
