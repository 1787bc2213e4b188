import { isIP } from 'node:net';
import { addressWords, allowsAddress, classifyAddress } from '../lib/ip/address.ts';
import { Failure } from '../domain/failure.ts';
import { hostOfUrl } from '../lib/host-port.ts';

/** Endpoint URLs usually have some 100 characters; those of Web Push have 500. */
export const ENDPOINT_CHARS_MAX = 2_000;
/** Below this only 443 is allowed, so that no request reaches a mail, shell or database port. */
const FIRST_FREE_PORT = 1_024;
/** Parsers disagree on a missing slash, a backslash or a blank. */
const FORM = /^https:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;
const PORT = /:\d*$/;

/**
 * Parses the URL of an endpoint, with the parser that is used to dial it. Accepts only https without credentials and
 * fragment, to a name or to a public address in its usual form; throws invalid_argument otherwise. Names are not
 * resolved.
 */
export function readEndpointUrl(text: string): URL {
  if (text.length > ENDPOINT_CHARS_MAX) throw refused(`expected at most ${ENDPOINT_CHARS_MAX} characters`);
  if (!/^https:/i.test(text)) throw refused('expected an https URL');
  if (!FORM.test(text) || !URL.canParse(text))
    throw refused('expected an https URL without credentials, blanks and backslashes');
  // One address would be two endpoints, and each would get every notification.
  if (text.includes('#')) throw refused('the URL must not have a fragment, which is never sent');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw refused('the URL must not carry credentials');
  if (url.port !== '' && Number(url.port) < FIRST_FREE_PORT) throw refused(`port ${url.port} is not allowed`);
  const host = hostOfUrl(url);
  if (isIP(host) === 0) return refuseOddName(url, host);
  // 0x7f.1 and 2130706433 are addresses too; such forms hide the address.
  if (authorityOf(text).replace(PORT, '').toLowerCase() !== url.hostname)
    throw refused('expected the address in its usual form');
  if (!allowsAddress('push', host))
    throw refused(`${host} is ${addressWords(classifyAddress(host))}; only public ones are allowed`);
  return url;
}

function refuseOddName(url: URL, host: string): URL {
  const labels = host.split('.');
  const ofThisMachine = labels.at(-1) === 'localhost';
  if (host.length > 253 || labels.length < 2 || labels.includes('') || ofThisMachine)
    throw refused(`${host} is not a public host name`);
  return url;
}

function authorityOf(text: string): string {
  return /^https:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}

function refused(why: string): Failure {
  return new Failure('invalid_argument', `endpoint: ${why}.`);
}
