/** Seeded random numbers: the same seed tells the same story. Nothing in the demo uses `Math.random`. */
export interface Random {
  /** From 0 up to but not 1. */
  float(): number;
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
  /** Log-normally distributed around `median`; `sigma` is the spread of its logarithm. */
  logNormal(median: number, sigma: number): number;
  /** Seconds, say, until the next of events that come `rate` times per second on average. */
  wait(rate: number): number;
  hex(digits: number): string;
  /** A version 4 UUID. */
  uuid(): string;
  /** Another stream: what is drawn from it changes nothing here. */
  fork(name: string): Random;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

export function createRandom(seed: string): Random {
  // mulberry32: small, and good enough for a story.
  let state = hash(seed);
  const float = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const int = (low: number, high: number) => low + Math.floor(float() * (high - low + 1));
  const hex = (digits: number) => {
    let text = '';
    while (text.length < digits)
      text += Math.floor(float() * 0x1000000)
        .toString(16)
        .padStart(6, '0');
    return text.slice(0, digits);
  };
  return {
    float,
    int,
    hex,
    chance: (probability) => float() < probability,
    pick: (items) => items[int(0, items.length - 1)] ?? items[0],
    logNormal(median, sigma) {
      // Box–Muller; 1 − float keeps the logarithm's argument above zero.
      const normal = Math.sqrt(-2 * Math.log(1 - float())) * Math.cos(2 * Math.PI * float());
      return median * Math.exp(sigma * normal);
    },
    wait: (rate) => -Math.log(1 - float()) / rate,
    uuid() {
      const digits = hex(32);
      const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}
