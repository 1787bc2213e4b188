import type { Expr } from '../cel/env.ts';
import { textOf, textRead, type TextRead } from './reads.ts';

/** A text of the event that has to be one of these: for any other event the whole expression is false. */
export interface Requirement extends Pick<TextRead, 'path' | 'textIn'> {
  readonly texts: readonly string[];
}

/**
 * What each of the terms that an expression joins by `&&` requires of one text of the event. The expression is false
 * where one of them is not met, even if another term yields an error.
 */
export function requirementsOf(expr: Expr): readonly Requirement[] {
  const { exprKind } = expr;
  if (exprKind.case === 'callExpr' && exprKind.value.function === '_&&_')
    return exprKind.value.args.flatMap(requirementsOf);
  const requirement = requirementOf(expr);
  return requirement === null ? [] : [requirement];
}

/** Of a term that is true for exactly the listed texts; null for any other term. */
export function requirementOf(expr: Expr): Requirement | null {
  const { name, first, second } = termOf(expr) ?? {};
  if (first === undefined || second === undefined) return null;
  if (name === '_==_') return required(first, [textOf(second)]) ?? required(second, [textOf(first)]);
  if (name === '@in' && second.exprKind.case === 'listExpr')
    return required(first, second.exprKind.value.elements.map(textOf));
  return null;
}

/** Of a function with two operands, or a method with one. */
function termOf({ exprKind }: Expr): { readonly name: string; readonly first: Expr; readonly second: Expr } | null {
  if (exprKind.case !== 'callExpr') return null;
  const { function: name, target, args } = exprKind.value;
  const [first, second, ...more] = target === undefined ? args : [target, ...args];
  return first === undefined || second === undefined || more.length > 0 ? null : { name, first, second };
}

function required(field: Expr, texts: readonly (string | null)[]): Requirement | null {
  const read = textRead(field);
  const known = texts.filter((text) => text !== null);
  return read === null || known.length < texts.length ? null : { ...read, texts: known };
}
