import { isCredentialName, isCredentialParameter } from '../../domain/secrets/credential-name.ts';

/**
 * Keeps the credentials of a payload out of the store: those in URLs, in headers copied to a label, and in free text.
 */

/** Replaces a credential in a text. */
const REMOVED = '[removed]';

// Each expression is linear: it begins at a character that its repetition cannot contain, or, by a lookbehind, only at
// the start of a run. A repetition that could begin inside its own run would read the run once for each character of
// it.
const USERINFO = /:\/\/[^\s/?#"'<>]*@/g;
/** At the end of a text that was cut: whether an @ followed is unknown. */
const USERINFO_CUT = /:\/\/[^\s/?#"'<>]*$/;
const PARAMETER = /([?&;#])([^\s?&;#=/"'<>]+)=([^\s?&;#"'<>]*)/g;
const ASSIGNED = /=[^\s&;,"'<>]+/g;
const NAME_END = /(?<![A-Za-z0-9_.-])[A-Za-z0-9_.-]+$/;
/** As much of a name before an equals sign as is looked at. */
const NAME_CHARACTERS = 40;
/** Equals signs of one value without a blank that are looked at: the work for each stays small. */
const ASSIGNMENTS_MAX = 16;
/** Words after these are credentials, except a word of small letters alone: "basic authentication" is kept. */
const SCHEME = /(authorization["']?\s{0,3}[:=]\s{0,3})?\b(bearer|basic)(\s{1,3})([A-Za-z0-9+/._~=-]+)/gi;
/** Looked for first: SCHEME begins with a part that need not be there, and took a tenth of the time of an event. */
const SCHEME_WORD = /bearer|basic/i;
const PLAIN_WORD = /^[a-z]{1,15}$/;
/**
 * A member of JSON and a quoted value: `"password": "x"`, `PASSWORD="x y"`. A text that was cut may have lost the last
 * quote.
 */
const QUOTED = /(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]+)("\s{0,3}:\s{0,3}"|=")([^"]+)("|$)/g;

/** A header or a field, `X-Api-Key: x`; its scheme, if any, was cleaned before. */
const NAMED = /(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]+)(\s{0,3}:\s{0,3})([^\s"',;<>]+)/g;
/** An option of a command line, `--password x`. */
const OPTION = /(?<![A-Za-z0-9-])([A-Za-z0-9]*-[A-Za-z0-9-]+)(\s{1,3})([^\s"',;<>-][^\s"',;<>]*)/g;
/** In curl's form: `-u joe:x`. */
const USER = /((?:^|\s)(?:-u|--user)(?:\s{1,3}|=)["']?[^\s:"']{1,100}:)[^\s"']+/g;
const SCHEME_ALONE = /^(?:bearer|basic)$/i;

/**
 * The text without the user and password of URLs, without the values of parameters, assignments, headers and options
 * named like a credential, and without the word after `Bearer` or `Basic`. `isCut` marks the beginning of a longer
 * text: a possible half of a user and password at its end is removed too.
 */
export function withoutCredentials(text: string, isCut = false): string {
  let clean = isCut ? text.replace(USERINFO_CUT, `://${REMOVED}`) : text;
  if (clean.includes('://')) clean = clean.replaceAll(USERINFO, '://');
  if (clean.includes('"')) clean = clean.replaceAll(QUOTED, cleanQuoted);
  if (clean.includes('=')) clean = clean.replaceAll(PARAMETER, cleanParameter).replaceAll(ASSIGNED, cleanAssignment);
  if (SCHEME_WORD.test(clean)) clean = clean.replaceAll(SCHEME, cleanScheme);
  if (clean.includes(':')) clean = clean.replaceAll(USER, `$1${REMOVED}`).replaceAll(NAMED, cleanField);
  return clean.includes('-') ? clean.replaceAll(OPTION, cleanNamed) : clean;
}

/** "the token: expired" is a sentence. */
function cleanField(whole: string, name: string, gap: string, value: string): string {
  return PLAIN_WORD.test(value) ? whole : cleanNamed(whole, name, gap, value);
}

function cleanNamed(whole: string, name: string, gap: string, value: string): string {
  return isCredentialName(name) && !SCHEME_ALONE.test(value) ? `${name}${gap}${REMOVED}` : whole;
}

function cleanScheme(whole: string, header: string | undefined, scheme: string, gap: string, word: string): string {
  if (header === undefined && PLAIN_WORD.test(word)) return whole;
  return `${header ?? ''}${scheme}${gap}${REMOVED}`;
}

function cleanQuoted(whole: string, name: string, mark: string, _value: string, end: string): string {
  return isCredentialName(name) ? `${name}${mark}${REMOVED}${end}` : whole;
}

function cleanParameter(whole: string, mark: string, name: string): string {
  return isCredentialParameter(name) ? `${mark}${name}=${REMOVED}` : whole;
}

/** The value of a harmless name may hold a further assignment: `a=b=password=x` or `url=/a%20password=x`. */
function cleanAssignment(value: string, at: number, text: string): string {
  let equals = at;
  for (let look = 0; look < ASSIGNMENTS_MAX && equals !== -1 && equals < at + value.length; look += 1) {
    const name = NAME_END.exec(text.slice(Math.max(0, equals - NAME_CHARACTERS), equals))?.[0] ?? '';
    if (isCredentialName(name)) return `${text.slice(at, equals)}=${REMOVED}`;
    equals = text.indexOf('=', equals + 1);
  }
  return value;
}
