import { Failure } from '../../../domain/failure.ts';
import { isCredentialParameter } from '../../../domain/secrets/credential-name.ts';

/** Replaces a credential in an export. When the export is added again, it keeps the stored credential. */
export const KEPT = '[kept]';

// Each expression is linear: it begins at characters that its repetition cannot contain, or at the start.
const URLS = /(?:\bssh)?:\/\/\S+/g;
/** The user of an ssh URL is no credential, and a repository needs it; elsewhere it may be a token. */
const USERINFO = /^(:\/\/|ssh:\/\/(?=[^/?#@]*:))[^/?#]*@/;
const PARAMETERS = /([?&;#])([^?&;#=/]+)=([^?&;#]*)/g;
const KEPT_HERE = /^(?:ssh)?:\/\/\[kept\]@|=\[kept\](?:[?&;#]|$)/;

/** The text with `[kept]` for the user and password of each URL, and for parameters named like a credential. */
export function hideCredentials(text: string): string {
  return replaceCredentials(text, KEPT);
}

/** The same with another mark. */
export function replaceCredentials(text: string, mark: string): string {
  return text.replaceAll(URLS, (url) => hideInUrl(url, mark));
}

function hideInUrl(url: string, mark: string): string {
  return url
    .replace(USERINFO, `$1${mark}@`)
    .replaceAll(PARAMETERS, (whole, begin: string, name: string) =>
      isCredentialParameter(name) ? `${begin}${name}=${mark}` : whole,
    );
}

/**
 * What puts the stored credentials back into texts, taken in the order of the export. A `[kept]` stands for the
 * credential of the same URL only, so that no other host gets it. The function throws invalid_argument, which names
 * `field`, where there is no such URL.
 */
export function keptCredentials(field: string, stored: readonly string[]): (text: string) => string {
  const originals = new Map<string, string[]>();
  for (const url of stored.flatMap((text) => text.match(URLS) ?? [])) {
    const hidden = hideInUrl(url, KEPT);
    if (hidden !== url) originals.set(hidden, [...(originals.get(hidden) ?? []), url]);
  }
  return (text) =>
    text.replaceAll(URLS, (url) => {
      if (!KEPT_HERE.test(url)) return url;
      const [original, ...others] = originals.get(url) ?? [];
      if (original === undefined)
        throw new Failure(
          'invalid_argument',
          `${field}: ${KEPT} keeps the stored credential of a URL, and no such URL is stored; write the credential.`,
        );
      // The same URL may hold another credential in a later word. The last one stays for further words.
      if (others.length > 0) originals.set(url, others);
      return original;
    });
}

/** A value of JSON with each of its texts replaced. */
export function replaceTexts<T>(value: T, replace: (text: string) => string): T {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? replace(each) : each,
  ) as T;
}

/** The texts of a value of JSON, in its order. */
export function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  replaceTexts(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}
