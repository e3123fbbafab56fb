import { escrow } from './escrow';
import { notifications } from './notifications';
import { ordersKafka } from './orders-kafka';
import { ordersRedis } from './orders-redis';
import { ordersSqs } from './orders-sqs';
import type { DemoOutbox } from './outbox';

/** The five outboxes of record, in the order of the configuration. */
export const DEMO_OUTBOXES: readonly DemoOutbox[] = [escrow, ordersSqs, ordersKafka, ordersRedis, notifications];
