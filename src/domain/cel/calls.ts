import type * as Cel from '@bufbuild/cel';
import { APPEND_FUNCTION, type Expr } from './env.ts';
import { fieldOf } from './field.ts';
import { didYouMean } from './refused.ts';
import { BOOL, type CelShape, join, mayEqual, NUMBER, weight, word } from './shape.ts';

type Call = Extract<Expr['exprKind'], { case: 'callExpr' }>['value'];

/** A call, and what the walk does for it. */
export interface CallSite {
  readonly functions: Cel.CelEnv['funcs'];
  readonly call: Call;
  readonly shapeOf: (part: Expr) => CelShape;
  readonly charge: (steps: number) => void;
  readonly pattern: (text: string) => number;
  readonly refuse: (what: string) => never;
}

/** Instructions times characters that a regular expression gets through in one step, in the ordinary case. */
const PATTERN_UNITS_PER_STEP = 16;
/** Characters of a text whose length is not known. */
const TEXT_LENGTH = 1_024;

/**
 * Steps of calls that are slow for their size: times are messages of the library (20 to 100 µs for each call with one),
 * each call looks its time zone up again (0.3 ms), and a failed conversion builds an error (15 µs).
 */
const TIME_STEPS = 100;
const ZONE_STEPS = 1_000;
const CONVERSION_STEPS = 20;
const CONVERSIONS = new Set(['int', 'uint', 'double', 'string', 'bytes', 'bool']);

const MACROS = ['exists', 'all', 'filter', 'map', 'exists_one', 'existsOne'];
const LOGIC = new Set(['_&&_', '_||_', '!_', '@not_strictly_false']);
/** Operators that the planner of the library handles itself, so no table of functions lists them. */
const OPERATORS = new Set([...LOGIC, '_?_:_', '_[_]']);
const ORDER = new Set(['_<_', '_<=_', '_>_', '_>=_']);
const TO_BOOL = new Set(['contains', 'startsWith', 'endsWith', 'bool']);
const TO_NUMBER = new Set(['size', 'int', 'uint', 'double']);
const TO_TIME = new Set(['timestamp', 'duration']);
/** Accessors of a duration; a time has these and more. */
const DURATION_PARTS = new Set(['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds']);
/** Their results are types, and types have no names here to compare with. */
const UNUSABLE = new Set(['type']);

/** The shape that a call yields. Checks the function and its operands; charges beyond one step. Throws CelRefused. */
export function callShape(site: CallSite): CelShape {
  const { call, shapeOf } = site;
  if (!OPERATORS.has(call.function)) checkFunction(site);
  const parts = call.target === undefined ? call.args : [call.target, ...call.args];
  const shapes = parts.map((part) => shapeOf(part));
  const [first = BOOL, second = BOOL, third = BOOL] = shapes;
  site.charge(ownSteps(call, shapes));
  if (LOGIC.has(call.function)) return logic(site, shapes);
  if (call.function === '_?_:_') {
    logic(site, [first]);
    return join(second, third);
  }
  if (call.function === '_[_]') return indexed(site, first, second);
  if (call.function === 'matches') return matched(site, first);
  if (call.function === '@in') return contained(site, first, second);
  if (call.function === '_==_' || call.function === '_!=_' || ORDER.has(call.function))
    return compared(site, first, second);
  if (call.function === '_+_' || call.function === APPEND_FUNCTION) return added(site, first, second);
  if (call.function === '_-_' && (isTime(first) || isTime(second))) return subtracted(site, first, second);
  if (call.function.startsWith('get')) return partOfTime(site, first);
  site.charge(shapes.reduce((sum, shape) => sum + (shape.kind === 'text' ? weight(shape) : 0), 0));
  return yielded(call.function, first);
}

function ownSteps(call: Call, shapes: readonly CelShape[]): number {
  if (call.function.startsWith('get') && call.args.length > 0) return ZONE_STEPS;
  if (TO_TIME.has(call.function) || shapes.some(isTime)) return TIME_STEPS;
  return CONVERSIONS.has(call.function) ? CONVERSION_STEPS : 0;
}

function yielded(name: string, first: CelShape): CelShape {
  if (TO_BOOL.has(name)) return BOOL;
  if (TO_NUMBER.has(name)) return NUMBER;
  if (TO_TIME.has(name)) return { kind: name === 'duration' ? 'duration' : 'time' };
  if (name === 'string') return first.kind === 'text' ? first : { kind: 'text', length: TEXT_LENGTH };
  // Arithmetic: of numbers a number.
  return first.kind === 'number' ? first : { kind: 'unknown', weight: weight(first) };
}

function logic(site: CallSite, shapes: readonly CelShape[]): CelShape {
  for (const shape of shapes) {
    if (shape.kind !== 'bool' && shape.kind !== 'unknown')
      site.refuse(`a condition is expected, and this is ${word(shape)}${countHint(shape)}`);
  }
  return BOOL;
}

function countHint(shape: CelShape): string {
  return shape.kind === 'list' ? '; compare its size() with a number' : '';
}

function indexed(site: CallSite, container: CelShape, index: CelShape): CelShape {
  if (container.kind === 'text') site.refuse('a text cannot be indexed; use startsWith, contains or matches');
  if (container.kind === 'bool' || container.kind === 'number' || container.kind === 'null' || isTime(container))
    site.refuse(`${word(container)} cannot be indexed`);
  if (container.kind === 'list') {
    if (index.kind !== 'number' && index.kind !== 'unknown')
      site.refuse(`a list is indexed by a number, and this is ${word(index)}`);
    return container.of;
  }
  const key = site.call.args.at(-1)?.exprKind;
  if (key?.case === 'constExpr' && key.value.constantKind.case === 'stringValue')
    return fieldOf(container, key.value.constantKind.value, site.refuse);
  if (container.kind === 'record') return Object.values(container.fields).reduce(join);
  return fieldOf(container, '', site.refuse);
}

function compared(site: CallSite, left: CelShape, right: CelShape): CelShape {
  site.charge(Math.min(weight(left), weight(right)));
  if (mayEqual(left, right)) return BOOL;
  const hint = countHint(left) || countHint(right);
  return site.refuse(`${word(left)} is compared with ${word(right)}, which is never true${hint}`);
}

function contained(site: CallSite, element: CelShape, container: CelShape): CelShape {
  site.charge(container.kind === 'map' || container.kind === 'record' ? 1 : weight(container));
  if (container.kind === 'text') return site.refuse('"in" searches a list; for a text write text.contains(part)');
  if (container.kind === 'bool' || container.kind === 'number' || isTime(container))
    return site.refuse(`"in" searches a list, and this is ${word(container)}`);
  if (container.kind === 'list' && !mayEqual(element, container.of)) {
    return site.refuse(
      `${word(element)} is looked up in a list whose entries are each ${word(container.of)}, which is never true`,
    );
  }
  return BOOL;
}

function added(site: CallSite, left: CelShape, right: CelShape): CelShape {
  if (left.kind === 'text' && right.kind === 'text') {
    const sum: CelShape = { kind: 'text', length: left.length + right.length };
    site.charge(weight(sum));
    return sum;
  }
  if (left.kind === 'list' && right.kind === 'list')
    return { kind: 'list', count: left.count + right.count, of: join(left.of, right.of) };
  if (left.kind === 'number' && right.kind === 'number') return NUMBER;
  if (left.kind === 'unknown' || right.kind === 'unknown')
    return { kind: 'unknown', weight: weight(left) + weight(right) };
  if (left.kind === 'duration' && isTime(right)) return right;
  if (left.kind === 'time' && right.kind === 'duration') return left;
  return site.refuse(`${word(left)} cannot be added to ${word(right)}`);
}

function isTime({ kind }: CelShape): boolean {
  return kind === 'time' || kind === 'duration';
}

function subtracted(site: CallSite, left: CelShape, right: CelShape): CelShape {
  if (left.kind === 'unknown' || right.kind === 'unknown') return { kind: 'unknown', weight: 1 };
  if (left.kind === 'time' && right.kind === 'time') return { kind: 'duration' };
  if (isTime(left) && right.kind === 'duration') return left;
  return site.refuse(`${word(right)} cannot be subtracted from ${word(left)}`);
}

/** The shape that `getHours` and the other accessors yield. */
function partOfTime(site: CallSite, of: CelShape): CelShape {
  const { call } = site;
  if (of.kind === 'duration' && (call.args.length > 0 || !DURATION_PARTS.has(call.function))) {
    site.refuse(`a duration has ${[...DURATION_PARTS].map((name) => `${name}()`).join(', ')}, and no time zone`);
  }
  if (!isTime(of) && of.kind !== 'unknown') site.refuse(`${call.function} needs a time, and this is ${word(of)}`);
  return NUMBER;
}

function matched(site: CallSite, text: CelShape): CelShape {
  const pattern = site.call.args.at(-1)?.exprKind;
  if (pattern?.case !== 'constExpr' || pattern.value.constantKind.case !== 'stringValue') {
    return site.refuse('matches needs its pattern written out, as in text.matches("^a.*z$")');
  }
  if (text.kind !== 'text' && text.kind !== 'unknown')
    return site.refuse(`matches needs a text, and this is ${word(text)}`);
  const size = patternSize(site, pattern.value.constantKind.value);
  site.charge((size * (text.kind === 'text' ? text.length : TEXT_LENGTH)) / PATTERN_UNITS_PER_STEP);
  return BOOL;
}

function patternSize(site: CallSite, pattern: string): number {
  try {
    return site.pattern(pattern);
  } catch (thrown) {
    return site.refuse(thrown instanceof Error ? thrown.message : 'this pattern is not valid');
  }
}

/** Refuses an unknown function, a wrong number of operands and a wrong form of call. */
function checkFunction(site: CallSite): void {
  const { call } = site;
  const name = call.function;
  const group = UNUSABLE.has(name) ? undefined : site.functions.find(name);
  if (group === undefined) {
    if (MACROS.includes(name))
      site.refuse(`${name} takes a name and a condition, as in list.${name}(e, e.name == "a")`);
    if (name === 'has') site.refuse('has takes a field, as in has(e.name)');
    const known = [...new Set([...site.functions].map((each) => each.name))].filter(
      (each) => /^\w+$/.test(each) && !UNUSABLE.has(each),
    );
    site.refuse(`there is no function "${name}"${didYouMean(name, [...known, ...MACROS, 'has'])}`);
  }
  const isMethod = call.target !== undefined;
  const fits = [...(group ?? [])].some(
    (each) => (each.target !== undefined) === isMethod && each.arguments.length === call.args.length,
  );
  if (!fits)
    site.refuse(
      `${name} cannot be called like ` +
        `this${[...(group ?? [])].some((each) => each.target !== undefined) ? `; write value.${name}(…)` : ''}`,
    );
}
