/** Whole numbers in as few bytes as they need (LEB128), floats in eight: what a cell is written with. */
export class ByteWriter {
  private bytes: number[] = [];

  /** A whole number from 0 to 2^53 - 1. */
  uint(value: number): void {
    let rest = Math.max(0, Math.round(value));
    while (rest >= 0x80) {
      this.bytes.push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.bytes.push(rest);
  }

  float(value: number): void {
    const eight = Buffer.alloc(8);
    eight.writeDoubleLE(value);
    this.bytes.push(...eight);
  }

  done(): Buffer {
    return Buffer.from(this.bytes);
  }
}

/** Reads what ByteWriter wrote; throws RangeError where the bytes end too early. */
export class ByteReader {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  uint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.bytes[this.at];
      if (byte === undefined) throw new RangeError('A cell ends too early');
      this.at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  float(): number {
    const value = this.bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }
}
