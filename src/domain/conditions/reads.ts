import type { Expr } from '../cel/env.ts';
import type { EventFacts } from '../events/event.ts';
import { eventText, isTextField, pairText } from './facts.ts';

/** Which texts of the event an expression reads. */

/** A place where the text of a field or label is read. */
export interface TextRead {
  /** As one writes it in an expression. */
  readonly path: string;
  readonly textIn: (facts: EventFacts) => string;
  /** Whether the event has it: a label or an annotation that it does not have reads as an empty text. */
  readonly isSet: (facts: EventFacts) => boolean;
}

export function isEvent({ exprKind }: Expr): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === 'event';
}

/** `of.field` or `of["field"]`. */
export function selection({ exprKind }: Expr): { readonly of: Expr; readonly field: string } | null {
  if (exprKind.case === 'selectExpr') {
    const { operand, field, testOnly } = exprKind.value;
    return operand === undefined || testOnly ? null : { of: operand, field };
  }
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return null;
  const [of, key] = exprKind.value.args;
  const field = key === undefined ? null : textOf(key);
  return of === undefined || field === null ? null : { of, field };
}

/** How the text of a field or label is read from an event; null for any other expression. */
export function textRead(expr: Expr): TextRead | null {
  const selected = selection(expr);
  if (selected === null) return null;
  const { of, field } = selected;
  if (isEvent(of))
    return isTextField(field)
      ? { path: `event.${field}`, textIn: (facts) => eventText(facts, field), isSet: () => true }
      : null;
  const outer = selection(of);
  if (outer === null || !isPairs(outer.field) || !isEvent(outer.of)) return null;
  const pairs = outer.field;
  const path = `event.${pairs}${/^[A-Za-z_]\w*$/.test(field) ? `.${field}` : `[${JSON.stringify(field)}]`}`;
  return {
    path,
    textIn: (facts) => pairText(facts[pairs], field),
    isSet: (facts) => Object.hasOwn(facts[pairs], field),
  };
}

/** The fields of an event that hold texts by their names. */
export function isPairs(field: string): field is 'labels' | 'annotations' {
  return field === 'labels' || field === 'annotations';
}

/** All of them in an expression, in its order. */
export function textReads(expr: Expr): readonly TextRead[] {
  const read = textRead(expr);
  return read === null ? partsOf(expr).flatMap(textReads) : [read];
}

/** Whether it yields the same for every event. */
export function isConstant(expr: Expr): boolean {
  return !isEvent(expr) && partsOf(expr).every(isConstant);
}

/** Whether a function is called in it, at any depth. */
export function calls(expr: Expr, name: string): boolean {
  const { case: kind, value } = expr.exprKind;
  return (kind === 'callExpr' && value.function === name) || partsOf(expr).some((part) => calls(part, name));
}

/** A constant text. */
export function textOf({ exprKind }: Expr): string | null {
  if (exprKind.case !== 'constExpr' || exprKind.value.constantKind.case !== 'stringValue') return null;
  return exprKind.value.constantKind.value;
}

function partsOf({ exprKind }: Expr): readonly Expr[] {
  switch (exprKind.case) {
    case 'selectExpr':
      return present([exprKind.value.operand]);
    case 'callExpr':
      return present([exprKind.value.target, ...exprKind.value.args]);
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return present(exprKind.value.entries.map(({ value }) => value));
    case 'comprehensionExpr':
      return present([exprKind.value.iterRange, exprKind.value.loopStep]);
    case 'constExpr':
    case 'identExpr':
    case undefined:
      return [];
  }
}

function present(parts: readonly (Expr | undefined)[]): readonly Expr[] {
  return parts.filter((part) => part !== undefined);
}
