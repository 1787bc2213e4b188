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

/**
 * What every text that a regular expression matches begins with, such as `web-` of `^web-[0-9]+`; null if that is
 * unknown or nothing.
 */
export function anchoredPrefix(pattern: string): string | null {
  const { signs = '', rest = '' } = LEADING.exec(pattern)?.groups ?? {};
  if (mayHaveAlternatives(rest)) return null;
  // A repetition is one of the last sign, which may be missing then; RE2 takes `a(?i)*` for one of `a` too.
  const kept = [...signs.matchAll(SIGNS)].slice(0, /^(?:[*+?{]|\(\?[A-Za-z-]*\))/.test(rest) ? -1 : undefined);
  return kept.length === 0 ? null : plain(kept.join(''));
}

/** Whether `|` may be in it outside of groups: `^a.|b` means ^a. or b. */
function mayHaveAlternatives(rest: string): boolean {
  let depth = 0;
  for (let at = 0; at < rest.length; at += 1) {
    const sign = rest[at];
    if (sign === '\\') {
      at += 1;
      // What follows has no meaning, up to \E.
      if (rest[at] === 'Q') return true;
    } else if (sign === '[') at = classEnd(rest, at);
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === '|' && depth <= 0) return true;
  }
  return false;
}

/** Where a list such as `[^]a]` ends, which begins at `start`: at the latest, for one that holds others. */
function classEnd(rest: string, start: number): number {
  let at = start + 1;
  if (rest[at] === '^') at += 1;
  if (rest[at] === ']') at += 1;
  for (; at < rest.length && rest[at] !== ']'; at += 1) if (rest[at] === '\\') at += 1;
  return at;
}

/** What has no meaning in a pattern, or an escaped sign: `\.` is a full stop, and `\d` is no literal. */
const SIGN = String.raw`(?:[^\\^$.*+?()[\]{}|\n]|\\[\\^$.*+?()[\]{}|/-])`;
const LITERAL = new RegExp(`^${SIGN}*$`, 'u');
const LEADING = new RegExp(`^\\^(?<signs>${SIGN}*)(?<rest>.*)$`, 'su');
const SIGNS = new RegExp(SIGN, 'gu');

function literal(part: string): string | null {
  return LITERAL.test(part) ? plain(part) : null;
}

function plain(signs: string): string {
  return signs.replaceAll(/\\(?<sign>.)/gu, '$<sign>');
}
