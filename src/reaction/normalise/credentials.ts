/** Keeps the credentials of a payload out of the store: of URLs, of headers that were put into a label, of free text. */

/** Stands where a credential stood inside of a text. */
export const REMOVED = '[removed]';

/** Words in the name of a label, an annotation or a parameter that stand for a credential, joined as in `clientSecret` too. */
const NAME_PART = /authorization|token|passw(?:or)?d|passphrase|secret|credential|cookie|api[-_. ]?key|access[-_. ]?key|private[-_. ]?key|bearer|signature/i;
/** Those that are also a part of harmless words, so that they count alone only: `auth` but not `author`. */
const NAME_WORD = /(?:^|[-_. ])(?:auth|pwd)(?:$|[-_. ])/i;
/** In the query of a URL alone: as a label each is a word like any other. */
const PARAMETER_WORD = /^(?:key|code|otp|pass|sid|sig)$/i;

/** Whether a label, an annotation or a parameter of this name holds a credential. */
export function isCredentialName(name: string): boolean {
  return NAME_PART.test(name) || NAME_WORD.test(name);
}

// None takes longer than a small multiple of the text: each begins at a mark that its repetition can't hold, or has a bound.
const USERINFO = /:\/\/[^\s/?#"'<>]*@/g;
const PARAMETER = /([?&;#])([^\s?&;#=/"'<>]{1,100})=([^\s?&;#"'<>]*)/g;
const ASSIGNED = /=[^\s&;,"'<>]+/g;
const NAME_END = /[A-Za-z0-9_.-]+$/;
/** As much of a name before an equals sign as is looked at. */
const NAME_CHARACTERS = 40;
/** With a digit or a filler in what follows, so that "basic authentication" stays two words. */
const SCHEME = /\b(bearer|basic) +(?=[A-Za-z+/._~-]{0,200}[0-9=])[A-Za-z0-9+/._~=-]{8,}/gi;

/**
 * The text without the user and password of URLs in it, without the values of parameters and assignments that are
 * named like a credential, and without what follows `Bearer` or `Basic`.
 */
export function withoutCredentials(text: string): string {
  let clean = text;
  if (clean.includes('://')) clean = clean.replaceAll(USERINFO, '://');
  if (clean.includes('=')) clean = clean.replaceAll(PARAMETER, cleanParameter).replaceAll(ASSIGNED, cleanAssignment);
  return clean.includes(' ') ? clean.replaceAll(SCHEME, `$1 ${REMOVED}`) : clean;
}

function cleanParameter(whole: string, mark: string, name: string): string {
  const plain = decoded(name);
  return isCredentialName(plain) || PARAMETER_WORD.test(plain) ? `${mark}${name}=${REMOVED}` : whole;
}

function cleanAssignment(value: string, at: number, text: string): string {
  const name = NAME_END.exec(text.slice(Math.max(0, at - NAME_CHARACTERS), at))?.[0] ?? '';
  return isCredentialName(name) ? `=${REMOVED}` : value;
}

function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
