import { isUtf8 } from 'node:buffer';

/** What file systems take as one name and Linux as one path, in bytes. */
const PART_BYTES_MAX = 255;
const PATH_BYTES_MAX = 4_000;

/**
 * The path of an entry of a git tree, from the path of its folder, which was read before, and its name. Throws an Error
 * that names it for what a file system may read as another path, or as the folder that git keeps its own configuration
 * in.
 */
export function readTreeName(folder: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Error('The repository contains a path that is not UTF-8.');
  const name = bytes.toString('utf8');
  const path = folder === '' ? name : `${folder}/${name}`;
  const why = Buffer.byteLength(path) > PATH_BYTES_MAX ? 'is too long' : whyNot(name, bytes.length);
  if (why !== null) throw new Error(`The repository has the path ${shownPath(path)} in it, which ${why}.`);
  return path;
}

function whyNot(name: string, bytes: number): string | null {
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) return 'has a control character';
  if (name.includes('\\')) return 'has a backslash';
  if (name === '' || name === '.' || name === '..' || name.includes('/')) return 'leads elsewhere';
  if (bytes > PART_BYTES_MAX) return 'is too long';
  if (isGitFolder(name)) return 'is an alias of the folder .git';
  return null;
}

/** Of a path in a message, in characters. */
const SHOWN_CHARACTERS = 200;

/** A path as one line of a message: in quotes, with what can't be seen or moves the cursor as an escape. */
export function shownPath(path: string): string {
  return JSON.stringify(path.slice(0, SHOWN_CHARACTERS)).replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A name as file systems compare it that ignore case and characters without a width. */
export function folded(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase();
}

/** `.git` as file systems read it that fold names, ignore endings, or shorten names. */
function isGitFolder(part: string): boolean {
  return /^(?:\.git|git~\d+)[. ]*(?:::.*|:.*)?$/.test(folded(part));
}
