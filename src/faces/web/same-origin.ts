import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Failure } from '../../domain/failure.ts';
import { isOwnOrigin } from '../http/own-origin.ts';

/**
 * Refuses a form that a page of another origin posted. Browsers say where a request comes from in Sec-Fetch-Site;
 * over plain http they send only Origin. A program sends neither, and holds no cookie that could be misused.
 */
export function refuseForeign(request: IncomingMessage): void {
  const { origin, host, 'sec-fetch-site': site } = request.headers;
  const own =
    site === undefined ? origin === undefined || isOwnOrigin(origin, host) : site === 'same-origin' || site === 'none';
  if (!own) throw new Failure('forbidden', 'A page of another origin submitted this form.');
}

/** The token that only a page of this session can know. */
export function refuseWrongCsrf(expected: string | null, given: string | null): void {
  const a = Buffer.from(expected ?? '');
  const b = Buffer.from(given ?? '');
  if (a.length > 0 && a.length === b.length && timingSafeEqual(a, b)) return;
  throw new Failure('forbidden', 'This form is out of date. Go back, reload the page and submit it again.');
}
