import type { ReadOnlyReason } from './changes/read-only';

/** Stable codes of `application/problem+json` responses, with their HTTP status. */
export const PROBLEM_STATUS = {
  unauthenticated: 401,
  token_expired: 401,
  token_invalid: 401,
  forbidden: 403,
  not_allowed: 403,
  approval_required: 403,
  not_found: 404,
  invalid: 400,
  conflict: 409,
  in_progress: 409,
  key_reused: 422,
  too_many: 429,
  timeout: 504,
  read_only: 403,
  unavailable: 503,
} as const;
export type ProblemCode = keyof typeof PROBLEM_STATUS;

export interface ProblemOptions {
  /** Field → what is wrong with it and what to do; for `invalid`. */
  fields?: Record<string, string>;
  /** Stable code of the reason; for `read_only`. */
  because?: ReadOnlyReason;
  /** The console's own store is down, for which screens have texts of their own. */
  ofStore?: boolean;
  /** Kept for the log; never sent to a client. */
  cause?: unknown;
  /** Id of the log line; set for unexpected failures. */
  reference?: string;
  retryAfterSeconds?: number;
}

/** An expected failure with a stable code. `detail` is safe to show: it never holds SQL, secrets or driver text. */
export class Problem extends Error {
  readonly fields?: ProblemOptions['fields'];
  readonly because?: ReadOnlyReason;
  readonly ofStore: boolean = false;
  readonly reference?: string;
  readonly retryAfterSeconds?: number;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    { cause, ...options }: ProblemOptions = {},
  ) {
    super(`${code}: ${detail}`, { cause });
    Object.assign(this, { name: 'Problem', ...options });
  }

  get status(): number {
    return PROBLEM_STATUS[this.code];
  }

  /** Compares names: the bundler may load this module several times in a process, and `instanceof` must hold across the copies. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && 'name' in value && value.name === 'Problem' && 'detail' in value;
  }
}

/** Codes that screens have texts for (`problems.<code>`); over HTTP `store` is `unavailable`. */
export type ShownCode = ProblemCode | 'store';

export const shownCode = ({ code, ofStore }: Problem): ShownCode => (ofStore ? 'store' : code);

export const isShownCode = (code: string): code is ShownCode => code === 'store' || code in PROBLEM_STATUS;

export interface ProblemInfo extends Pick<ProblemOptions, 'fields' | 'because' | 'reference'> {
  code: ShownCode;
  detail: string;
}

/** Result of a server action: a value, or a problem the screen has a text for (`problems.<code>`). */
export type ActionResult<T> = { ok: true; value: T } | { ok: false; problem: ProblemInfo };

/** A server action, as a screen is given it. */
export type Action<I, T = unknown> = (input: I) => Promise<ActionResult<T>>;
