/** Lets a few pieces of work go on at a time; the others wait for their turn in order. */
export class Turns {
  private free: number;
  private readonly queue: (() => void)[] = [];

  constructor(atOnce: number) {
    this.free = atOnce;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.queue.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
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
