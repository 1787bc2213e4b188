import type * as Cel from '@bufbuild/cel';
import { checkExpression } from './check.ts';
import { type CelEnvironment, celEnvironment, type Expr, type PatternTest } from './env.ts';
import { faultOf } from './fault.ts';
import { isTooDeep } from './depth.ts';
import { CelRefused, placeAt } from './refused.ts';
import type { CelShape } from './shape.ts';
import { celInput } from './value.ts';

/** Characters of an expression: far more than a person reads, and a bound for what the parser has to go through. */
export const CEL_LENGTH_MAX = 4_096;

/** Values that the expression is tried with when it is defined. */
interface CelSample {
  /** Its name in a refusal, such as "a plan that changes nothing". */
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface CelOptions {
  /** The names that the expression sees, and what is known of each. */
  readonly roots: Readonly<Record<string, CelShape>>;
  readonly samples: readonly CelSample[];
}

/** Errors are fixed texts with a place, without any value of the input. */
export type CelAnswer = { readonly value: boolean } | { readonly error: string };

interface CompiledCel {
  /** Evaluates over the values of the roots: plain records, lists, texts, numbers, conditions. Never throws. */
  evaluate(values: Readonly<Record<string, unknown>>): CelAnswer;
}

/** The values of the roots, in the form that the library reads. */
export type CelContext = Readonly<Record<string, Cel.CelInput>>;

type CelOutcome = { readonly value: boolean | string | number | bigint } | { readonly error: string };

/** An expression that was checked, without any rule yet of what it has to yield. */
interface CheckedCel {
  readonly shape: CelShape;
  readonly expr: Expr;
  readonly hasMatch: PatternTest;
  /** Never throws. */
  run(context: CelContext): CelOutcome;
}

type Parsed = ReturnType<typeof Cel.parse>;

/** Reads and checks an expression that yields true or false. Throws CelRefused, which names place and fault. */
export async function compileCel(text: string, options: CelOptions): Promise<CompiledCel> {
  const checked = await checkCel(text, options);
  const { shape } = checked;
  if (shape.kind !== 'bool' && shape.kind !== 'unknown')
    throw new CelRefused(`the expression must yield true or false; it yields a ${shape.kind}`);
  const compiled: CompiledCel = { evaluate: (values) => evaluate(checked, values) };
  for (const { name, values } of options.samples) {
    const answer = compiled.evaluate(values);
    if ('error' in answer) throw new CelRefused(`for ${name} the expression fails: ${answer.error}`);
  }
  return compiled;
}

/** Reads an expression and checks its names, its operands and its cost, at most `stepsMax`. Throws CelRefused. */
export async function checkCel(
  text: string,
  { roots, stepsMax }: { readonly roots: CelOptions['roots']; readonly stepsMax?: number },
): Promise<CheckedCel> {
  if (text.trim() === '') throw new CelRefused('the expression is empty');
  if (text.length > CEL_LENGTH_MAX) throw new CelRefused(`the expression is longer than ${CEL_LENGTH_MAX} characters`);
  const environment = await celEnvironment();
  const parsed = read(environment, text);
  const shape = checkExpression(parsed.expr, {
    environment,
    roots,
    refuse(expr, what) {
      const offset = offsetOf(parsed, expr.id);
      if (offset === undefined) throw new CelRefused(`in the expression: ${what}`);
      throw new CelRefused(what, { text, offset });
    },
    macro: (expr) => macroOf(parsed, expr),
    ...(stepsMax === undefined ? {} : { stepsMax }),
  });
  const { cel, env, hasMatch } = environment;
  const planned = { cel, text, parsed, run: cel.plan(env, parsed.expr) };
  return { shape, expr: parsed.expr, hasMatch, run: (context) => outcomeOf(planned, context) };
}

/** The tree of an expression that may be refused otherwise. Throws CelRefused where it cannot be read at all. */
export async function parseCel(text: string): Promise<Expr> {
  return read(await celEnvironment(), text).expr;
}

function read(environment: CelEnvironment, text: string): Parsed {
  if (isTooDeep(text)) throw new CelRefused('the expression is nested too deeply');
  try {
    return environment.cel.parse(text);
  } catch (thrown) {
    // The parser is recursive: nesting without brackets may be as deep as the text is long.
    if (thrown instanceof RangeError) throw new CelRefused('the expression is nested too deeply');
    throw syntaxRefused(thrown instanceof Error ? thrown.message : '', text);
  }
}

/** What people write who know other languages. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^and\b/i, 'write && for and'],
  [/^or\b/i, 'write || for or'],
  [/^=(?!=)/, 'write == to compare'],
  [/^not\b/i, 'write ! for not'],
  [/^`/, 'names are written without back quotes'],
];

function syntaxRefused(message: string, text: string): CelRefused {
  const found = /^<input>:(\d+):(\d+): /.exec(message);
  if (found === null) return new CelRefused('the expression cannot be parsed');
  const line = Number(found[1]);
  const column = Number(found[2]);
  const lines = text.split('\n');
  const rest = (lines[line - 1] ?? '').slice(column - 1).trimStart();
  const hint = SPELLINGS.find(([pattern]) => pattern.test(rest))?.[1];
  const what = rest === '' ? 'the expression ends too early' : `syntax error at ${JSON.stringify(rest.slice(0, 12))}`;
  const offset = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, column - 1);
  return new CelRefused(`${what}${hint === undefined ? '' : `; ${hint}`}`, { text, offset });
}

function offsetOf(parsed: Parsed, id: bigint | undefined): number | undefined {
  return id === undefined ? undefined : parsed.sourceInfo?.positions[id.toString()];
}

function macroOf(parsed: Parsed, expr: Expr): string {
  const call = parsed.sourceInfo?.macroCalls[expr.id.toString()]?.exprKind;
  return call?.case === 'callExpr' ? call.value.function : 'a loop';
}

function evaluate(checked: CheckedCel, values: Readonly<Record<string, unknown>>): CelAnswer {
  try {
    const context: Record<string, Cel.CelInput> = Object.create(null);
    for (const [name, value] of Object.entries(values)) context[name] = celInput(value);
    return answerOf(checked.run(context));
  } catch {
    return { error: 'it cannot be evaluated' };
  }
}

export function answerOf(outcome: CelOutcome): CelAnswer {
  if ('error' in outcome) return outcome;
  return typeof outcome.value === 'boolean' ? { value: outcome.value } : { error: 'it yields neither true nor false' };
}

/** An expression that can be evaluated, with what names a place in it. */
interface Planned extends Pick<CelEnvironment, 'cel'> {
  readonly text: string;
  readonly parsed: Parsed;
  readonly run: (context: Record<string, Cel.CelInput>) => Cel.CelResult;
}

function outcomeOf({ cel, text, parsed, run }: Planned, context: CelContext): CelOutcome {
  // An error of the library is an Error whose stack is never shown: without stacks, 80,000 evaluations/s miss a label;
  // with them, 25,000.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const result = run(context);
    if (typeof result !== 'object') return { value: result };
    if (!cel.isCelError(result)) return { error: 'it yields no text, no number and no condition' };
    const offset = offsetOf(parsed, result.exprId);
    const place = offset === undefined ? 'in the expression' : placeAt(text, offset);
    return { error: `${place}: ${faultOf(result.message, text, offset)}` };
  } catch (thrown) {
    return { error: thrown instanceof RangeError ? 'the input is too large for it' : 'it cannot be evaluated' };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
