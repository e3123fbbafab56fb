import type { ReadOnlyReason } from './changes/read-only';

/** The stable codes of `application/problem+json` answers, with the HTTP status each one travels with. */
export const PROBLEM_STATUS = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid: 400,
  conflict: 409,
  in_progress: 409,
  key_reused: 422,
  too_many: 429,
  timeout: 504,
  read_only: 403,
  approval_required: 403,
  unavailable: 503,
} as const;
export type ProblemCode = keyof typeof PROBLEM_STATUS;

export interface ProblemOptions {
  /** Field → what is wrong with it and what to do, for `invalid`. */
  fields?: Record<string, string>;
  /** Stable code of why, for `read_only`: one of `ReadOnlyReason`. */
  because?: ReadOnlyReason;
  /** It is the console's own store that does not answer, which screens have words of their own for. */
  ofStore?: boolean;
  /** Kept for the log; never sent to a client. */
  cause?: unknown;
  /** Finds the log line; set for unexpected failures. */
  reference?: string;
  /** Seconds after which trying again makes sense. */
  retryAfterSeconds?: number;
}

/** An expected failure with a stable code. `detail` is safe to show: it never holds SQL, secrets or driver text. */
export class Problem extends Error {
  readonly fields?: Record<string, string>;
  readonly because?: ReadOnlyReason;
  readonly ofStore: boolean;
  readonly reference?: string;
  readonly retryAfterSeconds?: number;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(`${code}: ${detail}`, { cause: options.cause });
    this.name = 'Problem';
    this.fields = options.fields;
    this.because = options.because;
    this.ofStore = options.ofStore ?? false;
    this.reference = options.reference;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return PROBLEM_STATUS[this.code];
  }

  /** By name: the bundler puts this module into a process more than once, and a problem must be one everywhere. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && 'name' in value && value.name === 'Problem' && 'detail' in value;
  }
}

/** What screens put into words (`problems.<code>`): over HTTP `store` is `unavailable`. */
export type ShownCode = ProblemCode | 'store';

export const shownCode = ({ code, ofStore }: Problem): ShownCode => (ofStore ? 'store' : code);

export const isShownCode = (code: string): code is ShownCode => code === 'store' || code in PROBLEM_STATUS;

/** A problem as a client is told it. */
export interface ProblemInfo extends Pick<ProblemOptions, 'fields' | 'because' | 'reference'> {
  code: ShownCode;
  detail: string;
}

/** What a server action answers: a value, or a problem the screen can put into words (`problems.<code>`). */
export type ActionResult<T> = { ok: true; value: T } | { ok: false; problem: ProblemInfo };
