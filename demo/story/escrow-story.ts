import type { Random } from '../random';
import type { StoryEvent } from '../schema/table';
import { money, person, type Money, type Person } from './people';
import type { Story } from './story';

interface Ad {
  id: string;
  seller: Person;
  asset: string;
  price: Money;
}

interface Order {
  id: string;
  ad: Ad;
  buyer: Person;
  total: Money;
  traceId: string;
}

const ASSETS = ['USDT', 'BTC', 'ETH'] as const;
const CURRENCIES = ['KRW', 'KRW', 'USD', 'EUR'] as const;
const ADS_MAX = 60;
const ORDERS_MAX = 40;

/**
 * People sell coins to each other: an ad, orders on it, and for each order the escrow is released to the buyer or
 * given back when it is cancelled.
 */
export function escrowStory(random: Random): Story {
  const ads: Ad[] = [];
  const orders: Order[] = [];
  let lastAd = 1_000;
  let lastOrder = 8_000;

  function event(
    type: string,
    aggregateId: string,
    traceId: string,
    status: string,
    total: Money,
    payload: Record<string, unknown>,
  ): StoryEvent {
    const id = random.uuid();
    return {
      id,
      type,
      aggregateType: type.startsWith('ad_') ? 'ad' : 'order',
      aggregateId,
      traceId,
      dedupKey: `${type}:${aggregateId}:${id.slice(0, 8)}`,
      payload: { ...payload, amount: total.amount, currency: total.currency, traceId },
      business: { id: aggregateId, status, ...total },
    };
  }

  const aboutAd = (type: string, ad: Ad, status: string) =>
    event(type, ad.id, random.hex(32), status, ad.price, {
      adId: ad.id,
      asset: ad.asset,
      seller: { id: ad.seller.id, name: ad.seller.name },
    });

  const aboutOrder = (type: string, order: Order, status: string, more: Record<string, unknown> = {}) =>
    event(type, order.id, order.traceId, status, order.total, {
      orderId: order.id,
      adId: order.ad.id,
      asset: order.ad.asset,
      customer: { id: order.buyer.id, name: order.buyer.name, email: order.buyer.email, phone: order.buyer.phone },
      seller: { id: order.ad.seller.id, name: order.ad.seller.name },
      ...more,
    });

  function take<T>(items: T[]): T | undefined {
    return items.splice(random.int(0, items.length - 1), 1)[0];
  }

  function createAd(): StoryEvent {
    const ad = { id: `ad-${(lastAd += 1)}`, seller: person(random), asset: random.pick(ASSETS), price: money(random, CURRENCIES) };
    ads.push(ad);
    return aboutAd('ad_create', ad, 'open');
  }

  function createOrder(): StoryEvent {
    const ad = ads[random.int(0, ads.length - 1)];
    if (ad === undefined) return createAd();
    const order = {
      id: `order-${(lastOrder += 1)}`,
      ad,
      buyer: person(random),
      total: money(random, [ad.price.currency]),
      traceId: random.hex(32),
    };
    orders.push(order);
    return aboutOrder('order_create', order, 'paid_into_escrow');
  }

  function closeAd(): StoryEvent {
    const ad = take(ads);
    return ad === undefined ? createAd() : aboutAd('ad_close', ad, 'closed');
  }

  function updateAd(): StoryEvent {
    const ad = ads[random.int(0, ads.length - 1)];
    return ad === undefined ? createAd() : aboutAd('ad_update', ad, 'open');
  }

  function endOrder(): StoryEvent {
    const order = take(orders);
    if (order === undefined) return createOrder();
    if (random.chance(0.18))
      return aboutOrder('order_cancel', order, 'cancelled', {
        reason: random.pick(['buyer_withdrew', 'payment_late', 'seller_unreachable']),
      });
    return aboutOrder('order_complete', order, 'released', { releaseTo: `0x${random.hex(40)}` });
  }

  return {
    next() {
      if (ads.length < 5) return createAd();
      if (orders.length >= ORDERS_MAX) return endOrder();
      if (ads.length >= ADS_MAX) return closeAd();
      const step = random.float();
      if (step < 0.4) return createOrder();
      if (step < 0.78) return endOrder();
      if (step < 0.87) return createAd();
      if (step < 0.94) return updateAd();
      return closeAd();
    },
  };
}
