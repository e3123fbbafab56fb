import { escrowFaults } from '../faults/escrow';
import { startRelay } from '../relays/escrow-status';
import { ESCROW_BUSINESS, escrowStatusTable } from '../schema/escrow-status';
import { escrowStory } from '../story/escrow-story';
import { AMOUNT, PERSONAL, type DemoOutbox } from './outbox';

export const escrow: DemoOutbox = {
  id: 'escrow',
  name: 'Escrow',
  shape: 'escrow-status',
  tableName: 'p2p.transaction_outbox',
  database: 'escrow',
  table: escrowStatusTable,
  business: ESCROW_BUSINESS,
  story: escrowStory,
  liveRate: 0.6,
  past: {
    rows: 24_000,
    medianMs: 620,
    sigma: 0.55,
    firstAttempt: 1,
    dead: {
      count: 9,
      attempts: 5,
      types: ['order_complete', 'order_cancel'],
      errors: ['4 DEADLINE_EXCEEDED: escrow node did not answer in {n} ms', 'nonce too low: next nonce {n}, tx 0x{hex}'],
    },
    stoppedForMs: 0,
  },
  startRelays: (options) => [startRelay(options)],
  faults: escrowFaults,
  settings: {
    parameters: { maxAttempts: 5, stuckAfter: '30s' },
    amount: AMOUNT,
    mask: PERSONAL,
    links: {
      'Order in the back office': 'https://backoffice.example.com/orders/{aggregateId}',
      Trace: 'https://traces.example.com/trace/{payload.traceId}',
    },
  },
};
