/**
 * The texts that a regular expression matches whole, such as `^a$` and `^(a|b)$`; null if it is anything but such a
 * list. Both readings of a pattern, RE2's and JavaScript's, take such a list in the same way.
 */
export function anchoredLiterals(pattern: string): readonly string[] | null {
  const inside = /^\^(?<inside>.*)\$$/su.exec(pattern)?.groups?.['inside'];
  if (inside === undefined) return null;
  const group = /^\((?:\?:)?(?<alternatives>.*)\)$/su.exec(inside)?.groups?.['alternatives'];
  // Without a group, ^a|b$ means ^a or b$.
  const texts = (group === undefined ? [inside] : group.split('|')).map(literal);
  return texts.every((text) => text !== null) ? texts : null;
}

/** What has no meaning in a pattern, or an escaped sign: `\.` is a full stop, and `\d` is no literal. */
const LITERAL = /^(?:[^\\^$.*+?()[\]{}|\n]|\\[\\^$.*+?()[\]{}|/-])*$/u;

function literal(part: string): string | null {
  return LITERAL.test(part) ? part.replaceAll(/\\(?<sign>.)/gu, '$<sign>') : null;
}
