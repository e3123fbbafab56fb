import { getOrMake } from '../group-by';

export type Ticket = ReturnType<Queue['enter']>;

/** Most members of a group in a row; then those who wait longest go first. */
const IN_A_ROW = 10;

interface Waiting {
  group: string;
  begin: () => void;
}

/** Runs `atOnce` at a time, in order. Members of a group follow each other, to share what one has opened; groups divide the turns. */
export class Queue {
  private running = 0;
  private readonly runningOf = new Map<string, number>();
  private readonly followedOf = new Map<string, number>();
  private line: Waiting[] = [];
  private filling = false;

  constructor(private readonly atOnce: number) {}

  enter(group: string) {
    let begin = (): void => undefined;
    const turn = new Promise<void>((resolve) => {
      begin = () => {
        this.count(group, 1);
        resolve();
      };
    });
    const waiting = { group, begin };
    this.line.push(waiting);
    this.fill();
    return {
      turn,
      /** Makes it the ticket's turn now, beyond the limit if need be. */
      hurry: () => {
        if (this.remove(waiting)) begin();
      },
      /** Gives the turn back; call once per turn. */
      leave: () => {
        this.count(group, -1);
        this.follow(group);
        this.fill();
      },
    };
  }

  get waiting(): number {
    return this.line.length;
  }

  async run<T>(group: string, work: () => Promise<T>): Promise<T> {
    const ticket = this.enter(group);
    await ticket.turn;
    return work().finally(() => ticket.leave());
  }

  private follow(group: string): void {
    const followed = this.followedOf.get(group) ?? 0;
    const follower = followed < IN_A_ROW ? this.line.find((one) => one.group === group) : undefined;
    if (follower === undefined || this.running >= this.atOnce) {
      this.followedOf.delete(group);
      return;
    }
    this.followedOf.set(group, followed + 1);
    this.start(follower);
  }

  /** Waits for all that enter in the same moment. */
  private fill(): void {
    if (this.filling) return;
    this.filling = true;
    setImmediate(() => {
      this.filling = false;
      for (let each = 1; this.running < this.atOnce && this.line.length > 0; each += 1) {
        for (const waiting of this.line.filter(({ group }) => (this.runningOf.get(group) ?? 0) < each)) {
          if (this.running < this.atOnce && (this.runningOf.get(waiting.group) ?? 0) < each) this.start(waiting);
        }
      }
    });
  }

  private start(waiting: Waiting): void {
    if (this.remove(waiting)) waiting.begin();
  }

  private remove(waiting: Waiting): boolean {
    const before = this.line.length;
    this.line = this.line.filter((one) => one !== waiting);
    return this.line.length < before;
  }

  private count(group: string, by: 1 | -1): void {
    this.running += by;
    this.runningOf.set(group, (this.runningOf.get(group) ?? 0) + by);
  }
}

/** A queue per name, made when it is first asked for. */
export function queuesOf(): (name: string, atOnce: number) => Queue {
  const made = new Map<string, Queue>();
  return (name, atOnce) => getOrMake(made, name, () => new Queue(atOnce));
}
