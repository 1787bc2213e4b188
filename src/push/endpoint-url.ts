import { isIP } from 'node:net';
import { addressWords, allowsAddress, classifyAddress } from '../domain/netgroups/address.ts';
import { Failure } from '../domain/failure.ts';
import { hostOf } from '../dial/guard.ts';

/** The URL of an endpoint is a capability of some 100 characters; Web Push has ones of 500. */
export const ENDPOINT_CHARS_MAX = 2_000;
/** Below this only 443: a push goes to no mail, shell or database port. */
const FIRST_FREE_PORT = 1_024;
/** One slash too few, a backslash or a blank is read by each parser in its own way. */
const FORM = /^https:\/\/[^\s\\/?#@]+(?:[/?#][^\s\\]*)?$/i;
const PORT = /:\d*$/;

/**
 * Reads the URL of an endpoint, once, by the parser that is used to dial it. Throws invalid_argument for everything but
 * https, without credentials and fragment, to a name, or to an address that is public and written in its usual form.
 * Says nothing about what a name resolves to.
 */
export function readEndpointUrl(text: string): URL {
  if (text.length > ENDPOINT_CHARS_MAX) throw refused(`expected at most ${ENDPOINT_CHARS_MAX} characters`);
  if (!/^https:/i.test(text)) throw refused('expected an https URL');
  if (!FORM.test(text) || !URL.canParse(text))
    throw refused('expected an https URL without credentials, blanks and backslashes');
  // One and the same place would be two endpoints, each of which gets every page.
  if (text.includes('#')) throw refused('the URL must not have a fragment, which is never sent');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw refused('the URL must not carry credentials');
  if (url.port !== '' && Number(url.port) < FIRST_FREE_PORT)
    throw refused(`port ${url.port} is not one that pushes go to`);
  const host = hostOf(url);
  if (isIP(host) === 0) return refuseOddName(url, host);
  // 0x7f.1 and 2130706433 are addresses too: who writes one so hides it.
  if (authorityOf(text).replace(PORT, '').toLowerCase() !== url.hostname)
    throw refused('write the address in its usual form');
  if (!allowsAddress('push', host))
    throw refused(`${host} is ${addressWords(classifyAddress(host))}; only public ones are allowed`);
  return url;
}

function refuseOddName(url: URL, host: string): URL {
  const labels = host.split('.');
  const ofThisMachine = labels.at(-1) === 'localhost';
  if (host.length > 253 || labels.length < 2 || labels.includes('') || ofThisMachine)
    throw refused(`${host} is not the name of a public host`);
  return url;
}

function authorityOf(text: string): string {
  return /^https:\/\/([^/?#]*)/i.exec(text)?.[1] ?? '';
}

function refused(why: string): Failure {
  return new Failure('invalid_argument', `endpoint: ${why}.`);
}
