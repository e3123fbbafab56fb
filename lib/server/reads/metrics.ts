import 'server-only';
import { CONTENT_TYPE } from '@/lib/prometheus/exposition';
import type { Console } from '../console';

/** The figures of every outbox as Prometheus text. */
export async function readMetrics(console: Console): Promise<Response> {
  return new Response(await console.exposition.text(), { headers: { 'Content-Type': CONTENT_TYPE } });
}
