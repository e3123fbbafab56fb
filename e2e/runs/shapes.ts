/** Of the catalogue what runs of the checker are on: a process that reads all of it takes a third longer to start. */
import { courierStatus } from '@/lib/shape/catalog/courier-status';
import { escrowStatus } from '@/lib/shape/catalog/escrow-status';
import { listenNotify } from '@/lib/shape/catalog/listen-notify';
import { publishedAt } from '@/lib/shape/catalog/published-at';
import { workerStatus } from '@/lib/shape/catalog/worker-status';

export const SHAPES = [courierStatus, escrowStatus, listenNotify, publishedAt, workerStatus];
