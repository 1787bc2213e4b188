import { isUtf8 } from 'node:buffer';

/** A code of UTF-8 in a text of bytes, or a byte that is no part of one. */
const CODES = new RegExp(
  [
    String.raw`[\xc2-\xdf][\x80-\xbf]`,
    String.raw`\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}`,
    String.raw`\xf0[\x90-\xbf][\x80-\xbf]{2}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}`,
    String.raw`[\x80-\xff]`,
  ].join('|'),
  'g',
);

/** Names of encodings by the byte order marks that announce them. */
const MARKS: readonly (readonly [string, string])[] = [
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/**
 * The text of bytes that should be UTF-8. A byte that is not is read as windows-1252, which has all of Latin-1; the
 * other characters stay as they are. A byte order mark is left out, and that of UTF-16 is believed.
 */
export function textOfBytes(bytes: Buffer): string {
  const start = bytes.toString('hex', 0, 2);
  const marked = MARKS.find(([mark]) => mark === start)?.[1];
  if (marked !== undefined) return new TextDecoder(marked).decode(bytes);
  return (isUtf8(bytes) ? bytes.toString('utf8') : mixed(bytes)).replace(/^\uFEFF/, '');
}

function mixed(bytes: Buffer): string {
  const western = new TextDecoder('windows-1252');
  return bytes.toString('latin1').replace(CODES, (code) => {
    const own = Buffer.from(code, 'latin1');
    return code.length > 1 ? own.toString('utf8') : western.decode(own);
  });
}
