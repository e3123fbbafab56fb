import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Random } from '../random';
import { createFaults } from './faults';
import { FAULT_MODES, type Delivery, type Message } from './protocol';

/** Deliveries kept, so that a demo left running for days does not fill the memory. */
const DELIVERIES_MAX = 200_000;
const BODY_MAX = 5_000_000;

const messageSchema = z.object({
  outbox: z.string(),
  eventId: z.string(),
  type: z.string(),
  dedupKey: z.string().nullable(),
  body: z.string(),
});
const faultSchema = z.strictObject({
  outbox: z.string().min(1),
  type: z.string().optional(),
  eventId: z.string().optional(),
  mode: z.enum(FAULT_MODES),
  message: z.string().max(2_000).optional(),
  times: z.int().positive().optional(),
  forMs: z.number().positive().optional(),
  delayMs: z.number().min(0).optional(),
});

const relaySchema = z.strictObject({ outbox: z.string().min(1), running: z.boolean() });

export interface SinkOptions {
  /** Default: a free one. */
  port?: number;
  /** How long accepting takes; nothing when left out. */
  latency?: { random: Random; medianMs: number };
  /** Starts or stops the relay of an outbox; answers false for an unknown one. Without it nobody can from here. */
  setRelay?: (outbox: string, running: boolean) => Promise<boolean>;
}

export interface Sink {
  url: string;
  close(): Promise<void>;
}

/** Starts the place where all relays publish to, on 127.0.0.1. */
export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const faults = createFaults();
  let deliveries: Delivery[] = [];

  async function publish(message: Message, response: ServerResponse): Promise<void> {
    const startedAt = new Date().toISOString();
    const fault = faults.judge(message);
    if (fault?.mode === 'timeout') return;
    if (fault) {
      await sleep(fault.delayMs);
      return answer(response, fault.mode === 'refuse' ? 503 : 500, { error: fault.message });
    }
    if (options.latency) await sleep(Math.min(2_000, options.latency.random.logNormal(options.latency.medianMs, 0.5)));
    // A sender that has gone meanwhile is not told, and the message counts all the same, as on a real network.
    const { outbox, eventId, dedupKey } = message;
    deliveries.push({ outbox, eventId, dedupKey, at: new Date().toISOString(), startedAt });
    if (deliveries.length > DELIVERIES_MAX * 1.1) deliveries = deliveries.slice(-DELIVERIES_MAX);
    answer(response, 202, { accepted: true });
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sink');
    if (request.method === 'POST' && url.pathname === '/publish') return publish(messageSchema.parse(await body(request)), response);
    if (request.method === 'POST' && url.pathname === '/faults') {
      faults.set(faultSchema.parse(await body(request)));
      return answer(response, 200, { ok: true });
    }
    if (request.method === 'POST' && url.pathname === '/relays' && options.setRelay !== undefined) {
      const { outbox, running } = relaySchema.parse(await body(request));
      if (await options.setRelay(outbox, running)) return answer(response, 200, { ok: true });
      return answer(response, 404, { error: `no outbox ${outbox}` });
    }
    if (request.method === 'GET' && url.pathname === '/deliveries') {
      const [outbox, event] = [url.searchParams.get('outbox'), url.searchParams.get('event')];
      const found = deliveries.filter(
        (delivery) => (outbox === null || delivery.outbox === outbox) && (event === null || delivery.eventId === event),
      );
      return answer(response, 200, { deliveries: found });
    }
    answer(response, 404, { error: 'POST /publish, POST /faults, POST /relays or GET /deliveries' });
  }

  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      const message = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      answer(response, error instanceof z.ZodError || error instanceof SyntaxError ? 400 : 500, { error: message });
    });
  });
  // A message that gets no answer is given up by its sender, never by the sink.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, value: unknown): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function body(request: IncomingMessage): Promise<unknown> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += chunk as string;
    if (text.length > BODY_MAX) throw new SyntaxError('body too large');
  }
  return JSON.parse(text);
}
