import type { Requirement } from '../../domain/conditions/requirements.ts';
import type { EventFacts } from '../../domain/events/event.ts';

/** Rules in the order in which they are tried, and the few of them that a given event can match. */
export interface RuleSet<R> {
  readonly rules: readonly R[];
  /**
   * Their positions in `rules`, ascending. Each other rule requires a text that the event does not have: it does not
   * match, and need not be evaluated.
   */
  candidates(facts: EventFacts): readonly number[];
}

/** Each rule is a candidate for each event. */
export function unindexed<R>(rules: readonly R[]): RuleSet<R> {
  const all = rules.map((_, at) => at);
  return { rules, candidates: () => all };
}

interface Path extends Pick<Requirement, 'textIn'> {
  /** The positions of the rules that require the text, by the text. */
  readonly rulesOf: Map<string, number[]>;
}

/**
 * Each rule is filed under one of its requirements: the one that it shares with the fewest rules. An event then costs
 * one look-up for each path that rules are filed under, and the evaluation of those that are found.
 */
export function indexed<R extends { readonly requires: readonly Requirement[] }>(rules: readonly R[]): RuleSet<R> {
  const shared = countTexts(rules);
  const paths = new Map<string, Path>();
  const always: number[] = [];
  for (const [at, { requires }] of rules.entries()) {
    const rarest = least(requires, ({ path, texts }) =>
      Math.max(...texts.map((text) => shared.get(key(path, text)) ?? 0)),
    );
    if (rarest === undefined) always.push(at);
    else {
      const path = paths.getOrInsertComputed(rarest.path, () => ({ textIn: rarest.textIn, rulesOf: new Map() }));
      for (const text of new Set(rarest.texts)) path.rulesOf.getOrInsertComputed(text, () => []).push(at);
    }
  }
  return {
    rules,
    candidates(facts) {
      const found = [...always];
      for (const { textIn, rulesOf } of paths.values()) found.push(...(rulesOf.get(textIn(facts)) ?? []));
      return found.toSorted((a, b) => a - b);
    },
  };
}

function countTexts(rules: readonly { readonly requires: readonly Requirement[] }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { requires } of rules)
    for (const { path, texts } of requires)
      for (const text of texts) counts.set(key(path, text), (counts.get(key(path, text)) ?? 0) + 1);
  return counts;
}

/** A path holds no line break. */
function key(path: string, text: string): string {
  return `${path}\n${text}`;
}

function least<T>(items: readonly T[], measure: (item: T) => number): T | undefined {
  let best: { readonly item: T; readonly size: number } | undefined;
  for (const item of items) {
    const size = measure(item);
    if (best === undefined || size < best.size) best = { item, size };
  }
  return best?.item;
}
