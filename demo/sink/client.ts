import { Agent, request } from 'node:http';
import type { Delivery, FaultRule, Message } from './protocol';

/** The broker as a relay sees it. */
export interface SinkClient {
  /** Rejects with what the sink said, or when it has not answered in time. */
  publish(message: Message, signal?: AbortSignal): Promise<void>;
}

/** The sink as its keeper sees it. */
export interface SinkControl extends SinkClient {
  url: string;
  setFault(rule: FaultRule): Promise<void>;
  /** Starts or stops the relay of an outbox of the demo. */
  setRelay(outbox: string, running: boolean): Promise<void>;
  deliveries(outbox?: string, eventId?: string): Promise<Delivery[]>;
  close(): void;
}

export interface SinkClientOptions {
  url: string;
  /** Milliseconds until a message without an answer counts as failed. */
  timeoutMs?: number;
}

export function createSinkClient({ url, timeoutMs = 1_500 }: SinkClientOptions): SinkControl {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });

  function call(method: string, path: string, value: unknown, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const outgoing = request(new URL(path, url), { method, agent, headers: { 'content-type': 'application/json' } }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answer = JSON.parse(text) as { error?: string };
          if ((response.statusCode ?? 500) < 300) resolve(answer);
          else reject(new Error(answer.error ?? `sink answered ${response.statusCode}`));
        });
      });
      const giveUp = () => outgoing.destroy(new Error('aborted'));
      const timer = setTimeout(() => outgoing.destroy(new Error(`publish timed out after ${timeoutMs} ms`)), timeoutMs);
      signal?.addEventListener('abort', giveUp);
      outgoing.on('close', () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
      });
      outgoing.on('error', reject);
      outgoing.end(value === undefined ? undefined : JSON.stringify(value));
    });
  }

  return {
    url,
    publish: async (message, signal) => void (await call('POST', '/publish', message, signal)),
    setRelay: async (outbox, running) => void (await call('POST', '/relays', { outbox, running })),
    setFault: async (rule) => void (await call('POST', '/faults', rule)),
    async deliveries(outbox, eventId) {
      const query = new URLSearchParams({
        ...(outbox === undefined ? {} : { outbox }),
        ...(eventId === undefined ? {} : { event: eventId }),
      });
      const { deliveries } = (await call('GET', `/deliveries?${query.toString()}`, undefined)) as { deliveries: Delivery[] };
      return deliveries;
    },
    close: () => agent.destroy(),
  };
}
