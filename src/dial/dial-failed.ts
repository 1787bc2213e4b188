/** A send failed. The text is ours: it contains no URL and no text of the other side. */
export class DialFailed extends Error {
  /** The pause that the other side asked for, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** `gone`: send nothing more to this target. `refused`: the same message would be refused again. */
  readonly kind: 'transient' | 'refused' | 'gone';

  constructor(message: string, kind: DialFailed['kind'] = 'transient', retryAfterMs: number | null = null) {
    super(message);
    this.name = 'DialFailed';
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The policy forbids an address of the host, or the one that a connection reached. */
export class AddressForbidden extends DialFailed {}

/** The host has no address that could be dialled. */
export class NameUnresolved extends DialFailed {
  /** `ENOTFOUND`, `ETIMEOUT` and the other codes of the resolver; null without one. */
  readonly code: string | null;

  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}
