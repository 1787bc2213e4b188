/**
 * Texts that parsers meet: pieces of what they read, in any order, with rubbish in between, and some of them very long.
 */
import * as fc from 'fast-check';

/** Characters of the longest texts. */
const LONG_MAX = 65_536;
const PIECES_MAX = 24;
/** What breaks parsers of any kind. */
const RUBBISH = [
  '',
  '\0',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '\u2028',
  '\u202e',
  '\ud800',
  '\ufeff',
  '😀',
  'é',
  '"',
  "'",
  '\\',
  '%',
  '%00',
  '%2e',
  '..',
  '/',
  '-',
  '--',
  '${',
  '}',
  '{',
  '[',
  ']',
  '(',
  ')',
  '<',
  '>',
  '@',
  ':',
  '::',
  ';',
  ',',
  '=',
  '?',
  '&',
  '#',
  '*',
  '+',
  '0',
  '1',
  '-1',
  '9'.repeat(20),
  '1e999',
  'NaN',
  'null',
  'true',
  '__proto__',
  'constructor',
  'toString',
];

/** Any UTF-16, halves of pairs too. (The library's own strings of all characters take 2 s to prepare.) */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.nat(0xffff), { maxLength }).map((codes) => String.fromCharCode(...codes));
}

/** Of these pieces and rubbish. */
export function pieces(known: readonly string[], max = PIECES_MAX): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...known) },
    { weight: 2, arbitrary: fc.constantFrom(...RUBBISH) },
    { weight: 1, arbitrary: anyText(12) },
  );
  return fc.array(piece, { maxLength: max }).map((all) => all.join(''));
}

/** As `pieces`, and one time in ten one piece again and again. */
export function texts(known: readonly string[], longest = LONG_MAX): fc.Arbitrary<string> {
  const repeated = fc
    .tuple(
      pieces(known, 3),
      fc.constantFrom(...known, ...RUBBISH),
      fc.integer({ min: 0, max: longest }),
      pieces(known, 3),
    )
    .map(([head, unit, length, tail]) => head + unit.repeat(Math.ceil(length / Math.max(1, unit.length))) + tail);
  return fc.oneof({ weight: 9, arbitrary: pieces(known) }, { weight: 1, arbitrary: repeated });
}

/** JSON values whose keys and texts are often these. */
export function jsonOf(keys: readonly string[], words: readonly string[], longest = 8_192): fc.Arbitrary<unknown> {
  const text = texts(words, longest);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'xsmall' },
      { weight: 4, arbitrary: text },
      { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 1e300, '') },
      { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
      {
        weight: 4,
        arbitrary: fc.dictionary(
          fc.oneof(
            { weight: 6, arbitrary: fc.constantFrom(...keys) },
            { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
          ),
          tie('value'),
          { maxKeys: 6, noNullPrototype: true },
        ),
      },
    ),
  }));
  return value;
}

/** The text of such a value, sometimes cut, with a piece exchanged, or with rubbish in it. */
export function jsonTexts(keys: readonly string[], words: readonly string[], longest = 8_192): fc.Arbitrary<string> {
  const whole = jsonOf(keys, words, longest).map((value) => JSON.stringify(value));
  const broken = fc
    .tuple(whole, fc.nat(), fc.nat(20), fc.constantFrom(...RUBBISH, ...words))
    .map(([text, at, removed, put]) => {
      const place = text.length === 0 ? 0 : at % text.length;
      return text.slice(0, place) + put + text.slice(place + removed);
    });
  return fc.oneof(
    { weight: 3, arbitrary: whole },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: texts([...words, '{"', '":', '":"', '"}', '[{']) },
  );
}
