import type * as Cel from '@bufbuild/cel';
import { CelRefused } from './refused.ts';

export type Expr = ReturnType<typeof Cel.parse>['expr'];

/** Instructions of a compiled pattern: `(a?){1000}` has 2,000, and took 11 ms for a text of 60 characters. */
const PATTERN_SIZE_MAX = 1_000;
/** Also bounds the time to compile one: 3,500 characters of repetitions took 470 ms. */
const PATTERN_LENGTH_MAX = 256;

const APPEND = '@append';

/** The library with what an expression needs around it. */
export interface CelEnvironment {
  readonly cel: typeof Cel;
  readonly env: Cel.CelEnv;
  /** Compiles a pattern and keeps it; answers how many instructions it has. Throws CelRefused. */
  pattern(text: string): number;
  /** Whether a text has a match of a pattern that was accepted, as the function `matches` answers. */
  readonly hasMatch: PatternTest;
}

export type PatternTest = (pattern: string, text: string) => boolean;

/**
 * Loads the library (91 ms, so only when there is an expression) and makes an environment for one expression. Its
 * patterns are compiled once: compiling `^(aws_db|aws_s3|google_.*)$` for each of 5,000 entries took 300 ms.
 */
export async function celEnvironment(): Promise<CelEnvironment> {
  const [cel, { RE2JS }] = await Promise.all([import('@bufbuild/cel'), import('@bufbuild/re2')]);
  const patterns = new Map<string, InstanceType<typeof RE2JS>>();
  const compile = (text: string): InstanceType<typeof RE2JS> => {
    let kept = patterns.get(text);
    if (kept === undefined) patterns.set(text, (kept = RE2JS.compile(text)));
    return kept;
  };
  return {
    cel,
    env: cel.celEnv({ funcs: [append(cel), ...strictNumbers(cel)], re2: { compile } }),
    hasMatch: (pattern, text) => compile(pattern).test(text),
    pattern(text) {
      if (text.length > PATTERN_LENGTH_MAX)
        throw new CelRefused(`this pattern is longer than ${PATTERN_LENGTH_MAX} characters`);
      const size = sizeOf(text, compile);
      if (size > PATTERN_SIZE_MAX) throw new CelRefused('this pattern is too large; repeat less in it');
      return size;
    },
  };
}

function sizeOf(
  text: string,
  compile: (text: string) => { readonly re2Input: { readonly prog: { numInst(): number } } },
): number {
  try {
    return compile(text).re2Input.prog.numInst();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, '') : 'it does not compile';
    throw new CelRefused(`this pattern is not valid: ${why}`);
  }
}

/**
 * The function that `map` and `filter` collect with. The library's own way nests a list in a list for each entry:
 * reading the result of 5,000 entries overflowed the stack. Only the collecting loop holds the list, so it may grow in
 * place.
 */
function append(cel: typeof Cel): Cel.CelFunc {
  const { DYN } = cel.CelScalar;
  const growing = new WeakMap<object, Cel.CelInput[]>();
  return cel.celFunc(APPEND, [cel.listType(DYN), cel.listType(DYN)], cel.listType(DYN), (collected, more) => {
    const kept = growing.get(collected);
    const elements = kept ?? [...collected];
    elements.push(...more);
    if (kept !== undefined) return collected;
    const list = cel.celList(elements);
    growing.set(list, elements);
    return list;
  });
}

const OF_TEXT = new Set(['int(string)', 'uint(string)', 'double(string)', 'duration(string)']);
let strict: readonly Cel.CelFunc[] | null = null;

/** The library reads a blank text as 0 and others as NaN, CEL as an error: a missing label is no small number. */
function strictNumbers(cel: typeof Cel): readonly Cel.CelFunc[] {
  strict ??= [...cel.celEnv().funcs]
    .filter(({ id }) => OF_TEXT.has(id))
    .map((func) =>
      cel.celFunc(func.name, [cel.CelScalar.STRING], func.result, (text) => {
        const result = text.trim() === '' ? undefined : func.call(0, undefined, [text]);
        if (result === undefined) throw new Error('Cannot convert a blank text');
        if (cel.isCelError(result)) throw new Error(result.message);
        if (Number.isNaN(result) && !/^\s*nan\s*$/i.test(text)) throw new Error('Cannot convert the text');
        return result;
      }),
    );
  return strict;
}

/** Makes the loop of a `map` or a `filter` collect with `append`, in place. No source text can hold an `@`. */
export function collectByAppending(step: Expr | undefined, accumulator: string): void {
  if (step?.exprKind.case !== 'callExpr') return;
  const call = step.exprKind.value;
  if (call.function === '_?_:_') collectByAppending(call.args[1], accumulator);
  const first = call.args[0]?.exprKind;
  const collects =
    first?.case === 'identExpr' && first.value.name === accumulator && call.args[1]?.exprKind.case === 'listExpr';
  if (call.function === '_+_' && collects) call.function = APPEND;
}

export { APPEND as APPEND_FUNCTION };
