/**
 * One table of failures: code to HTTP status, exit code of the command line, hint and, if a retry helps, the seconds to
 * wait. Every face reads it; none adds to it. Hints hold no volatile detail.
 */
export const FAILURES = {
  not_found: {
    when: 'Nothing has this id or name, or the token may not see it.',
    status: 404,
    exit: 3,
    hint: 'Check the id or name and list the collection.',
  },
  conflict: {
    when: 'The state of the resource does not permit it.',
    status: 409,
    exit: 5,
    hint: 'Read the current state of the resource, then decide again.',
  },
  concurrency_held: {
    when: 'Another job holds the concurrency key that this one needs.',
    status: 409,
    exit: 5,
    hint: 'Wait until the job that holds the concurrency key has ended, or cancel it.',
  },
  stale_plan: {
    when: 'A saved plan is applied, but its workspace has changed since.',
    status: 409,
    exit: 5,
    hint: 'The workspace has changed since this plan: make a new plan.',
  },
  duplicate: {
    when: 'The name is taken.',
    status: 409,
    exit: 5,
    hint: 'Choose another name, or update the existing one.',
  },
  invalid_argument: {
    when: 'A field is missing, unknown or not of its form.',
    status: 400,
    exit: 1,
    hint: 'Correct the named field and send the request again.',
  },
  unauthenticated: {
    when: 'The request has no valid token, session or signature.',
    status: 401,
    exit: 4,
    hint: 'Send a valid token as "Authorization: Bearer", sign in, or sign the message as the webhook requires.',
  },
  forbidden: {
    when: 'The scope of the token does not permit this, or the message says who or what may not do it.',
    status: 403,
    exit: 4,
    hint: 'Ask someone who may do this, or use a token whose scope permits it.',
  },
  kdf_busy: {
    when: 'Too many tokens are checked at the same time.',
    status: 503,
    exit: 7,
    hint: 'The authentication gate is busy: retry after one second.',
    retryAfter: 1,
  },
  streams_over_cap: {
    when: 'As many streams are open as are permitted.',
    status: 503,
    exit: 7,
    hint: 'Close an open stream, or retry later.',
    retryAfter: 30,
  },
  not_implemented: {
    when: 'The contract has it, but this build or machine does not.',
    status: 501,
    exit: 1,
    hint: 'This is not available here; the message names the alternative, if any.',
  },
  unavailable: {
    when: 'The store or another part cannot be reached, is full, or stops.',
    status: 503,
    exit: 7,
    hint: 'The service cannot do this now: retry later.',
    retryAfter: 1,
  },
  internal: {
    when: 'An error that no other code covers.',
    status: 500,
    exit: 1,
    hint: 'Check the log of the daemon, and run svc doctor.',
  },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;

interface FailureRow {
  /** When it happens, for the reference. */
  readonly when: string;
  readonly status: number;
  readonly exit: number;
  readonly hint: string;
  readonly retryAfter?: number;
}

export function failureRow(code: FailureCode): FailureRow {
  return FAILURES[code];
}

/** A refusal that the caller sees. A programming error is an ordinary Error and becomes `internal`. */
export class Failure extends Error {
  readonly code: FailureCode;
  /** Additional members of the `error` object, such as `stale`. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(code: FailureCode, message: string, extra: Readonly<Record<string, unknown>> = {}) {
    // A refusal is no fault: its place is of no interest, and a stack costs as much as a whole answer from memory.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Failure';
    this.code = code;
    this.extra = extra;
  }
}

/** Wraps anything thrown into a Failure. Any other error becomes `internal` without its text, which may hold values. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure('internal', 'An unexpected error occurred; the log of the daemon has the details.');
}
