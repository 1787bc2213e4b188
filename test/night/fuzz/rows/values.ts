/** Hostile values of a column: paths, texts, JSON, numbers and bytes, and null. */
import * as fc from 'fast-check';

/** In a text: the path of the folder that no pass may touch. */
export const CANARY_PATH = '{canary}';
/** In place of a number: the process id of the child that no pass may end. */
export const CANARY_PID = 'canary-pid';

const LONG = 10_240;
const TEXTS: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '../../../..',
  `../..${CANARY_PATH}`,
  CANARY_PATH,
  `${CANARY_PATH}/file`,
  `job_${CANARY_PATH}`,
  `job_01m7yd4zyke00anp2z332d2j5p/../../..${CANARY_PATH}`,
  `file://${CANARY_PATH}`,
  `-o ${CANARY_PATH}/made`,
  `$(touch ${CANARY_PATH}/made)`,
  'a\0b',
  'a\nb',
  '\u202eabc',
  '\ud800',
  '😀'.repeat(50),
  'x'.repeat(LONG),
  '/'.repeat(LONG),
  '('.repeat(LONG),
  '__proto__',
  'constructor',
  'null',
  'true',
  '0',
  '-1',
  '1e999',
  '9'.repeat(40),
  '{',
  '[]',
  '{}',
  '[[[]]]',
  '[null]',
  '"x"',
  '{"__proto__":{"x":1}}',
  '[{"name":1}]',
  '['.repeat(LONG),
  `{"command":["/bin/touch","${CANARY_PATH}/made"],"inventory":"localhost","limit":null,"egressPorts":[]}`,
  `{"path":"${CANARY_PATH}","dir":"${CANARY_PATH}"}`,
  '* * * * *',
  '60 25 32 13 8',
  'Europe/Nowhere',
  'http://127.0.0.1:1/',
  'steps: []',
  'steps: [{name: a, needs: [a]}]',
];
const NUMBERS: readonly (number | typeof CANARY_PID)[] = [
  CANARY_PID,
  0,
  1,
  -1,
  -2,
  2,
  65_536,
  2_147_483_647,
  2_147_483_648,
  -2_147_483_649,
  8_640_000_000_000_000,
  8_640_000_000_000_001,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
];

/** A cell and what is written into it: numbers that are taken modulo what there is. */
export interface RowValue {
  readonly column: number;
  readonly row: number;
  /** By the type of the column one of them is written; JSON only where there is some. */
  readonly text: string;
  readonly number: number | typeof CANARY_PID;
  readonly bytes: Uint8Array;
  readonly as: 'own' | 'json' | 'other' | 'null';
  readonly at: number;
}

export const rowValues: fc.Arbitrary<RowValue> = fc.record({
  column: fc.nat(),
  row: fc.nat(),
  text: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 64 }) },
    { weight: 1, arbitrary: fc.json() },
  ),
  number: fc.oneof(fc.constantFrom(...NUMBERS), fc.maxSafeInteger()),
  bytes: fc.uint8Array({ maxLength: 256 }),
  as: fc.constantFrom('own', 'own', 'own', 'json', 'json', 'other', 'null'),
  at: fc.nat(),
});

export interface Canary {
  readonly path: string;
  readonly pid: number;
}

type Type = 'text' | 'number' | 'bytes';

/** The value that is written into a cell of this type that holds `current`. */
export function cellOf(value: RowValue, type: Type, current: unknown, canary: Canary): unknown {
  const text = value.text.replaceAll(CANARY_PATH, canary.path);
  const number = value.number === CANARY_PID ? canary.pid : value.number;
  const parsed = value.as === 'json' && typeof current === 'string' ? parsedOf(current) : undefined;
  if (parsed !== undefined) return JSON.stringify(changed(parsed, value.at, value.at % 2 === 0 ? text : number));
  if (value.as === 'null') return null;
  const by = { text, number, bytes: Buffer.from(value.bytes) };
  return value.as === 'other' ? by[type === 'text' ? 'number' : 'text'] : by[type];
}

function parsedOf(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** JSON with one of its values replaced. */
function changed(parsed: object, at: number, by: unknown): unknown {
  const copy: unknown = structuredClone(parsed);
  const places: (() => void)[] = [];
  const walk = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return;
    for (const key of Object.keys(each)) {
      places.push(() => void Reflect.set(each, key, by));
      walk(Reflect.get(each, key));
    }
  };
  walk(copy);
  if (places.length === 0) return by;
  places[at % places.length]?.();
  return copy;
}
