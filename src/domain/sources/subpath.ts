/** Longer ones name no root that a person made; twice this still fits below any run directory. */
const SUBPATH_CHARACTERS_MAX = 400;
/** What file systems take as one name, in bytes. */
const PART_BYTES_MAX = 255;
/** Control and format characters, lone surrogates, line and paragraph separators: a list does not show them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
/** A URL-encoded dot, slash, backslash or NUL: nothing here decodes one, and nothing later should. */
const ENCODED = /%(?:25)*(?:00|2e|2f|5c)/i;
/** What a copy leaves out holds no root. */
const LEFT_OUT = /^\.(?:git|terraform)$/i;

/**
 * Whether `text` is a folder below the root of a tree, by its text alone: relative, of plain names, without `..`. A
 * text that a file system or a program would normalise to another path is refused too. The root itself has no name.
 */
export function isSafeSubpath(text: string): boolean {
  if (text.length === 0 || text.length > SUBPATH_CHARACTERS_MAX || text.startsWith('-')) return false;
  if (INVISIBLE.test(text) || ENCODED.test(text)) return false;
  return hasPlainParts(text) && hasPlainParts(text.normalize('NFKC'));
}

function hasPlainParts(text: string): boolean {
  return !/[\\\u2044\u2215\u29f8]/.test(text) && text.split('/').every(isPlainPart);
}

function isPlainPart(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || LEFT_OUT.test(part)) return false;
  return part.trim() === part && Buffer.byteLength(part) <= PART_BYTES_MAX;
}
