import type { Random } from '../random';

export interface Person {
  id: string;
  name: string;
  email: string;
  phone: string;
}

type Name = readonly [name: string, handle: string];
const NAMES: readonly [Name, ...Name[]] = [
  ['김민지', 'minji.kim'], ['이준호', 'junho.lee'], ['박서연', 'seoyeon.park'], ['최도윤', 'doyun.choi'], ['정하은', 'haeun.jung'],
  ['Anna Nováková', 'anna.novakova'], ['Marek Kováč', 'marek.kovac'], ['Iryna Shevchenko', 'iryna.shevchenko'], ['Dmitri Volkov', 'dmitri.volkov'], ['Elif Yılmaz', 'elif.yilmaz'],
  ['Grace Okafor', 'grace.okafor'], ['Liam O’Brien', 'liam.obrien'], ['Sofía García', 'sofia.garcia'], ['Jonas Weber', 'jonas.weber'], ['Aiko Tanaka', 'aiko.tanaka'],
]; // prettier-ignore

/** Invented; addresses end in a reserved domain, so nobody's. */
export function person(random: Random): Person {
  const [name, handle] = random.pick(NAMES);
  const number = random.int(10, 9_999);
  return {
    id: `user-${number}`,
    name,
    email: `${handle}${number}@example.com`,
    phone: `+82-10-${String(random.int(1_000, 9_999))}-${String(random.int(1_000, 9_999))}`,
  };
}

export interface Money {
  /** A decimal text: money is never a floating-point number. */
  amount: string;
  currency: string;
}

/** Mostly small, sometimes very large. */
export function money(random: Random, currencies: readonly [string, ...string[]]): Money {
  const currency = random.pick(currencies);
  const amount = random.logNormal(currency === 'KRW' ? 180_000 : 140, 1.1);
  return { amount: currency === 'KRW' ? String(Math.round(amount / 100) * 100) : amount.toFixed(2), currency };
}
