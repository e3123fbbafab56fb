import { record, type StoryEvent } from '../schema/table';
import type { FaultScript, FaultStage } from './script';

const INVOICED = 'order.invoiced';
/** Under the relay's limit of ten: invoices go out at last, long after the later events of their order. */
const FAILS = 9;
/** Milliseconds between two billing runs: shorter than an invoice takes, so that some are retrying at any moment. */
const RUN_EVERY_MS = 3_000;
const INVOICES_PER_RUN = 2;

/**
 * The partition of invoices has no leader most of the time: each invoice fails nine times before it goes out, and the
 * next event of its order overtakes it.
 */
export const ordersKafkaFaults: FaultScript = {
  before: ({ sink, outbox }) =>
    sink.setFault({
      outbox: outbox.id,
      type: INVOICED,
      mode: 'error',
      message: 'kafka: leader not available for partition billing-3 (correlation {request})',
      times: FAILS,
      delayMs: 40,
    }),

  async during(stage) {
    while (await stage.pause(RUN_EVERY_MS)) {
      for (let index = 0; index < INVOICES_PER_RUN; index += 1) {
        const invoice = nextInvoice(stage);
        await add(stage, invoice);
        await add(stage, { ...invoice, id: stage.random.uuid(), type: 'order.shipped', dedupKey: `${invoice.aggregateId}:order.shipped` });
      }
    }
  },
};

const add = (stage: FaultStage, event: StoryEvent) => record(stage.client, stage.outbox.business, stage.outbox.table, event);

/** Of each order of this story only the invoice is told, so the type that follows is free. */
function nextInvoice({ story }: FaultStage): StoryEvent {
  for (;;) {
    const event = story.next();
    if (event.type === INVOICED) return event;
  }
}
