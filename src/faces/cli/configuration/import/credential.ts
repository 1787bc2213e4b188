import type { Entry } from '../../../../domain/configuration/change.ts';
import { isCredentialParameter } from '../../../../domain/secrets/credential-name.ts';
import { textsOf } from '../../../../operations/core/sections/kept.ts';

const URLS = /:\/\/\S+/g;
const USERINFO = /^:\/\/[^/?#]*@/;
const PARAMETERS = /[?&;#]([^?&;#=/]{1,100})=/g;

/** Whether a URL of the entry has a credential: the file has `[kept]` in its place, and is refused with it. */
export function hasCredential(entry: Entry): boolean {
  return textsOf(entry)
    .flatMap((text) => text.match(URLS) ?? [])
    .some(isHidden);
}

function isHidden(url: string): boolean {
  const names = [...url.matchAll(PARAMETERS)].map(([, name = '']) => name);
  return USERINFO.test(url) || names.some(isCredentialParameter);
}
