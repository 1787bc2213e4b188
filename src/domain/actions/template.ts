import { CEL_LENGTH_MAX, parseCel } from '../cel/cel.ts';
import { CelRefused } from '../cel/refused.ts';
import { word } from '../cel/shape.ts';
import type { EventFacts } from '../events/event.ts';
import { checkRuleCel, eventContext } from '../conditions/facts.ts';
import { calls, isConstant, textReads } from '../conditions/reads.ts';
import { endOfText } from '../conditions/terms.ts';

/** A text with `${…}` in it. `$${` is a literal `${`. */
export interface Template {
  /** Its text if no part of it comes from the event, else null. */
  readonly fixed: string | null;
  readonly parts: readonly ({ readonly literal: string } | TemplateExpression)[];
}

/** One `${…}`. */
export interface TemplateExpression {
  /** Written as `${path(…)}`: it must yield an absolute path. */
  readonly isPath: boolean;
  /** It yields the same for every event. */
  readonly isConstant: boolean;
  /** It yields a number: never a path. */
  readonly isNumber: boolean;
  /** It reads annotations, which are shown on the machine itself only. */
  readonly readsAnnotations: boolean;
  /** Never throws; an error holds no value of the event. */
  fill(facts: EventFacts): { readonly text: string } | { readonly error: string };
  /** The first label or annotation that it reads and the event lacks, as written; null without one. */
  unset(facts: EventFacts): string | null;
}

type Part = { readonly literal: string } | { readonly expression: string };

/** Reads it and checks its expressions, each of which has to yield a text or a number. Throws CelRefused. */
export async function compileTemplate(source: string): Promise<Template> {
  const read = partsOf(source);
  const [first] = read;
  const parts: Template['parts'][number][] = [];
  for (const part of read) parts.push('literal' in part ? part : await compileExpression(part.expression));
  return { fixed: read.length === 1 && first !== undefined && 'literal' in first ? first.literal : null, parts };
}

/** Characters of a value that a message quotes. */
const SHOWN_CHARACTERS = 80;

/** What a message says of a value that is not accepted; without the text where that is shown on the machine only. */
export function shown(parts: readonly TemplateExpression[], text: string, facts: EventFacts): string {
  const unset = parts.map((part) => part.unset(facts)).find((path) => path !== null);
  if (text === '' && unset !== undefined) return `${unset} (not set) is not accepted`;
  if (parts.some(({ readsAnnotations }) => readsAnnotations))
    return 'the value, which comes from an annotation, is not accepted';
  const quoted = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…` : text;
  return `${JSON.stringify(quoted)} is not accepted`;
}

async function compileExpression(expression: string): Promise<TemplateExpression> {
  const { text: source, isPath } = await withoutPath(expression);
  const checked = await checkRuleCel(source);
  const { kind } = checked.shape;
  if (kind !== 'text' && kind !== 'number')
    throw new CelRefused(`\${…} must yield a text or a number; it yields ${word(checked.shape)}`);
  const reads = textReads(checked.expr);
  const unset: TemplateExpression['unset'] = (facts) => reads.find(({ isSet }) => !isSet(facts))?.path ?? null;
  const fill: TemplateExpression['fill'] = (facts) => {
    const outcome = checked.run(eventContext(facts));
    if ('error' in outcome) {
      const missing = unset(facts);
      return missing === null ? outcome : { error: `${outcome.error}; ${missing} is not set` };
    }
    const text = String(outcome.value);
    // Neither can reach a program unchanged: NUL ends an argument, and a lone surrogate has no UTF-8 form.
    if (text.includes('\0') || !text.isWellFormed())
      return { error: 'it yields a character that cannot be passed to a program' };
    return { text };
  };
  return {
    isPath,
    isConstant: isConstant(checked.expr),
    isNumber: kind === 'number',
    readsAnnotations: source.includes('annotations'),
    fill,
    unset,
  };
}

const PATH_CALL = /^(\s*)path(\s*\([^]*\)\s*)$/;

/** `path(…)` around a whole expression declares what it yields. It is not a CEL function, so blanks replace it. */
async function withoutPath(expression: string): Promise<{ readonly text: string; readonly isPath: boolean }> {
  if (!/\bpath\s*\(/.test(expression) || expression.length > CEL_LENGTH_MAX) return { text: expression, isPath: false };
  const parsed = await parseCel(expression);
  if (!calls(parsed, 'path')) return { text: expression, isPath: false };
  const [, before = '', call = ''] = PATH_CALL.exec(expression) ?? [];
  const { exprKind } = parsed;
  const isPath =
    exprKind.case === 'callExpr' &&
    exprKind.value.function === 'path' &&
    exprKind.value.target === undefined &&
    exprKind.value.args.length === 1 &&
    !exprKind.value.args.some((argument) => calls(argument, 'path'));
  if (!isPath || call === '') throw new CelRefused('path(…) takes one value and must be the whole expression');
  return { text: `${before}    ${call}`, isPath };
}

function partsOf(source: string): Part[] {
  const parts: Part[] = [];
  let literal = '';
  let at = 0;
  while (at < source.length) {
    if (source.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (source.startsWith('${', at)) {
      const end = endOf(source, at + 2);
      if (literal !== '') parts.push({ literal });
      literal = '';
      parts.push({ expression: source.slice(at + 2, end) });
      at = end + 1;
    } else {
      literal += source[at] ?? '';
      at += 1;
    }
  }
  if (literal !== '' || parts.length === 0) parts.push({ literal });
  return parts;
}

/** The closing brace of the expression that begins at `from`: one that is neither in a text nor part of it. */
function endOf(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const character = source[at];
    if (character === '"' || character === "'") at = endOfText(source, at);
    else if (character === '{') depth += 1;
    else if (character === '}' && depth === 0) return at;
    else if (character === '}') depth -= 1;
  }
  throw new CelRefused('"${" has no closing "}"; write $${ for a literal ${');
}
