import type { Random } from '../random';
import type { StoryEvent } from '../schema/table';
import { money, person, type Money, type Person } from './people';
import type { Story } from './story';

export interface OrderStoryOptions {
  /** The types of an order's events, in order. */
  steps: readonly [string, ...string[]];
  /** How likely an order goes straight on with its next step. */
  hurry: number;
  /** Instead of the next step, some orders end with this. */
  cancelled?: string;
}

interface Order {
  id: string;
  customer: Person;
  total: Money;
  traceId: string;
  step: number;
}

const OPEN_MAX = 12;
const CURRENCIES = ['EUR', 'USD', 'KRW'] as const;

/** A shop: orders go through the same steps one after the other. */
export function orderStory(random: Random, { steps, hurry, cancelled }: OrderStoryOptions): Story {
  const open: Order[] = [];
  // As the escrow's: an order's number is found in all five.
  let last = 8_000;
  let current: Order | null = null;

  function event(order: Order, type: string): StoryEvent {
    const id = random.uuid();
    const { customer, total, traceId } = order;
    return {
      id,
      type,
      aggregateType: 'order',
      aggregateId: order.id,
      traceId,
      dedupKey: `${order.id}:${type}`,
      payload: {
        orderId: order.id,
        customer: { id: customer.id, name: customer.name, email: customer.email, phone: customer.phone },
        items: random.int(1, 6),
        ...total,
        traceId,
      },
      business: { id: order.id, status: type.slice(type.indexOf('.') + 1), ...total },
    };
  }

  function begin(): Order {
    const order = {
      id: `order-${(last += 1)}`,
      customer: person(random),
      total: money(random, CURRENCIES),
      traceId: random.hex(32),
      step: 0,
    };
    open.push(order);
    return order;
  }

  return {
    next() {
      const goesOn = current !== null && open.includes(current) && random.chance(hurry);
      if (!goesOn)
        current =
          open.length < 3 || (open.length < OPEN_MAX && random.chance(1 / steps.length))
            ? begin()
            : (open[random.int(0, open.length - 1)] ?? begin());
      const order = current ?? begin();
      const stops = cancelled !== undefined && order.step > 0 && random.chance(0.05);
      const type = stops ? cancelled : (steps[order.step] ?? steps[0]);
      order.step += 1;
      if (stops || order.step >= steps.length) open.splice(open.indexOf(order), 1);
      return event(order, type);
    },
  };
}
