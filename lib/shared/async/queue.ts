export interface Ticket {
  /** Resolves when it is its holder's turn. */
  turn: Promise<void>;
  /** Makes it the holder's turn now. */
  hurry(): void;
  /** Gives a turn back; once for each. */
  leave(): void;
}

/** Members of a group that follow each other at once; then it is the turn of whoever waits longest. */
const IN_A_ROW = 10;

interface Waiting {
  group: string;
  begin: () => void;
}

/** So many at a time; the others in the order they came. Those of one group follow each other, to share what one of them has opened, and divide the turns with other groups. */
export class Queue {
  private running = 0;
  private readonly runningOf = new Map<string, number>();
  private readonly followedOf = new Map<string, number>();
  private line: Waiting[] = [];
  private filling = false;

  constructor(private readonly atOnce: number) {}

  enter(group: string): Ticket {
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
      hurry: () => {
        if (this.remove(waiting)) begin();
      },
      leave: () => {
        this.count(group, -1);
        this.follow(group);
        this.fill();
      },
    };
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

  /** When everybody who enters in the same moment is in the line. */
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
