import type { Entry } from '../change.ts';

const URLS = /:\/\/\S+/g;
const USERINFO = /^:\/\/[^/?#]*@/;
const PARAMETERS = /[?&;#]([^?&;#=/]{1,100})=/g;
/** Names of parameters that a written file hides; a test of operations compares them with what it hides. */
const PART = new RegExp(
  'authorization|token|passw(?:or)?d|passphrase|secret|credential|cookie|bearer|signature|' +
    '(?:api|access|private)[-_. ]?key',
  'i',
);
const WORD = /(?:^|[-_. ])(?:auth|pwd)(?:$|[-_. ])|^(?:key|code|otp|pass|sid|sig)$/i;

/** Whether a URL of the entry has a credential: the file has `[kept]` in its place, and is refused with it. */
export function hasCredential(entry: Entry): boolean {
  const texts = Object.values(entry)
    .flat()
    .filter((each) => typeof each === 'string');
  return texts.flatMap((text) => text.match(URLS) ?? []).some(isHidden);
}

function isHidden(url: string): boolean {
  const names = [...url.matchAll(PARAMETERS)].map(([, name = '']) => name);
  return USERINFO.test(url) || names.some((name) => PART.test(name) || WORD.test(name));
}
