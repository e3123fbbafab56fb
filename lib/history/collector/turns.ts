/** Who has waited for so long goes before those who would only be convenient. */
const PATIENCE_MS = 2_000;

/**
 * Lets a few pieces of work go on at a time; the others wait for their turn in order, but for work of the group that has just
 * had a turn: it finds the connection that was opened for that.
 */
export class Turns {
  private free: number;
  private readonly queue: { group: string; since: number; begin: () => void }[] = [];

  constructor(atOnce: number) {
    this.free = atOnce;
  }

  async take<T>(group: string, work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((begin) => this.queue.push({ group, since: Date.now(), begin }));
    try {
      return await work();
    } finally {
      const next = this.nextAfter(group);
      if (next === undefined) this.free += 1;
      else next();
    }
  }

  private nextAfter(group: string): (() => void) | undefined {
    const [first] = this.queue;
    const patient = first !== undefined && Date.now() - first.since < PATIENCE_MS;
    const same = patient ? this.queue.findIndex((one) => one.group === group) : -1;
    const [next] = this.queue.splice(Math.max(0, same), 1);
    return next?.begin;
  }
}

/** A pause that can be cut short. */
export class Pause {
  private wakeUp: (() => void) | null = null;

  /** Resolves after so many milliseconds, or when woken. */
  async for(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      timer.unref();
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = null;
  }

  wake(): void {
    this.wakeUp?.();
  }
}
