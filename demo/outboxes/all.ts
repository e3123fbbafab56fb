import type { EngineKey } from '@/lib/shared/model';
import { escrow } from './escrow';
import { notifications } from './notifications';
import { ordersKafka } from './orders-kafka';
import { ordersRedis } from './orders-redis';
import { ordersSqs } from './orders-sqs';
import type { DemoOutbox } from './outbox';

/** The five outboxes of record, in the order of the configuration; one of them can be on either engine. */
export function demoOutboxes(sqsOn: EngineKey = 'postgres'): readonly DemoOutbox[] {
  return [escrow, ordersSqs(sqsOn), ordersKafka, ordersRedis, notifications];
}
