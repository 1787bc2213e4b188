import type { ProbeDetail } from '../domain/checks/check.ts';
import { Failure } from '../domain/failure.ts';
import { AddressForbidden, DialFailed, NameUnresolved } from '../dial/dial-failed.ts';
import { isUnknownName } from '../dial/resolve.ts';
import { errorCode } from '../lib/error-code.ts';

/** What a probe found. `ok` is up, every other word is down. */
export interface Finding {
  readonly detail: ProbeDetail;
  /** Whole days until the certificate of the target ends. */
  readonly certificateDays?: number;
}

/** A finding that ends a probe from within. */
export class Down extends Error implements Finding {
  readonly detail: ProbeDetail;

  constructor(detail: ProbeDetail) {
    super(detail);
    this.name = 'Down';
    this.detail = detail;
  }
}

const BY_CODE: Readonly<Record<string, ProbeDetail>> = {
  ECONNREFUSED: 'refused',
  // The target was there, and closed the connection before it had answered.
  ECONNRESET: 'refused',
  ECONNABORTED: 'refused',
  EPIPE: 'refused',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls_failed',
  HPE_HEADER_OVERFLOW: 'too_large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too_large',
};
/** The parser of HTTP: the target speaks something else. */
const NOT_HTTP = /^HPE_/;
/** This machine lacks something, which says nothing about the target. */
const OF_THIS_MACHINE = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];

/** What an error says about the target. Throws one that is about this machine or program. */
export function findingOf(error: unknown): Finding {
  if (error instanceof Down) return { detail: error.detail };
  if (error instanceof AddressForbidden) return { detail: 'forbidden_address' };
  if (error instanceof NameUnresolved) return { detail: isUnknownName(error.code) ? 'no_such_name' : 'dns_failed' };
  if (error instanceof DialFailed) return { detail: 'unreachable' };
  const detail = wordOf(error);
  if (detail === null) throw error;
  return { detail };
}

/**
 * What an error of an open connection says about the target: `otherwise` where its code has no word. The libraries for
 * TLS and HTTP have more codes than any table, so no error of a connection is without a word. Throws Failure for what
 * this machine lacks.
 */
export function downBy(error: unknown, otherwise: ProbeDetail): Down {
  return error instanceof Down ? error : new Down(wordOf(error) ?? otherwise);
}

function wordOf(error: unknown): ProbeDetail | null {
  const code = errorCode(error) ?? '';
  const detail = BY_CODE[code];
  if (detail !== undefined) return detail;
  if (NOT_HTTP.test(code)) return 'not_http';
  if (OF_THIS_MACHINE.includes(code))
    throw new Failure('unavailable', `The probe did not run: this machine has no more sockets or memory (${code}).`);
  // Of connecting and sending: no way to the target, or a firewall of this machine.
  return error instanceof Error && 'syscall' in error ? 'unreachable' : null;
}
