import type { EventFacts, NormalEvent } from '../domain/events/event.ts';
import { isNotify } from '../domain/actions/notify-action.ts';
import type { TriedRule } from '../domain/rules/reaction-facts.ts';
import type { RuleAction } from '../domain/rules/actions.ts';
import { decidingRule } from '../domain/rules/reaction.ts';
import { newId } from '../lib/id.ts';
import type { Attempt, EvaluatedEvent, ReactionDeps, Sender } from './types.ts';
import type { CompiledRule, CompiledSilence, OpenRules } from './rules/compiled-rules.ts';
import type { RuleSet } from './rules/rule-set.ts';

/** Evaluates the rules on the events: all the slow work, before a transaction is open. */
export async function evaluateRules(
  deps: ReactionDeps,
  events: readonly NormalEvent[],
  sender: Sender,
): Promise<EvaluatedEvent[]> {
  return evaluateBy(deps, events, sender, await deps.rules.current());
}

/** As `evaluateRules`, with rules of the caller's choice, evaluated in the given order. */
export function evaluateBy(
  { clock, turns, onError }: Pick<ReactionDeps, 'clock' | 'turns' | 'onError'>,
  events: readonly NormalEvent[],
  sender: Sender,
  { silences, rulesFor }: OpenRules,
): Promise<EvaluatedEvent[]> {
  // A message may have a thousand events, each for many rules: other tasks run in between.
  return turns.each(events, (event) =>
    evaluateOne({ now: clock.now(), silences, onError }, clean(event), sender, rulesFor(event.source)),
  );
}

interface Evaluation extends Pick<ReactionDeps, 'onError'> {
  readonly now: number;
  readonly silences: readonly CompiledSilence[];
}

function evaluateOne(
  evaluation: Evaluation,
  event: NormalEvent,
  sender: Sender,
  set: RuleSet<CompiledRule>,
): EvaluatedEvent {
  const { now } = evaluation;
  const facts: EventFacts = { ...event, netgroup: event.labels['netgroup'] ?? null, receivedAt: now };
  const { rules } = set;
  const attempts: Attempt[] = [];
  let tried = rules.length;
  for (const at of set.candidates(facts)) {
    const rule = rules[at];
    const attempt = rule === undefined ? null : tryRule(rule, facts, evaluation);
    if (attempt === null) continue;
    attempts.push(attempt);
    if (decidingRule([attempt.tried]) === undefined) continue;
    tried = at + 1;
    break;
  }
  return {
    id: newId('evt', now),
    event,
    facts,
    sender,
    attempts,
    unmatched: tried - attempts.length,
    notTried: rules.length - tried,
  };
}

/**
 * Null where the rule does not match. One that cannot be evaluated is reported and does not match. A rule that throws
 * must not keep the others from the event.
 */
function tryRule(rule: CompiledRule, facts: EventFacts, { silences, onError }: Evaluation): Attempt | null {
  try {
    const answer = rule.evaluate(facts);
    if ('error' in answer) return failed(rule, answer.error);
    return answer.value ? matched(rule, facts, silences) : null;
  } catch (error) {
    onError(`rule ${rule.name}, tried on ${facts.source} ${facts.name}`, error);
    return failed(rule, 'its evaluation failed');
  }
}

function failed(rule: CompiledRule, error: string): Attempt {
  return {
    rule,
    action: null,
    tried: { ...common(rule), result: 'error', error, unfit: null, silence: null, failedSilences: [] },
  };
}

function matched(rule: CompiledRule, facts: EventFacts, silences: readonly CompiledSilence[]): Attempt {
  const { silence, failedSilences } = silencing(rule, facts, silences);
  const filled: { readonly action: RuleAction } | { readonly error: string } = rule.fill(facts);
  const unfit = 'error' in filled ? filled.error : null;
  return {
    rule,
    action: 'error' in filled ? null : filled.action,
    tried: { ...common(rule), result: 'matched', error: null, unfit, silence, failedSilences },
  };
}

/** The first silence that stops the rule, and those before it that could not say whether they do. */
function silencing(
  { name }: CompiledRule,
  facts: EventFacts,
  silences: readonly CompiledSilence[],
): Pick<TriedRule, 'silence' | 'failedSilences'> {
  const failedSilences: { id: string; error: string }[] = [];
  for (const silence of silences) {
    if (silence.expiresAt <= facts.receivedAt) continue;
    const answer = silence.stops(name, facts);
    if ('error' in answer) failedSilences.push({ id: silence.id, error: answer.error });
    else if (answer.value) return { silence, failedSilences };
  }
  return { silence: null, failedSilences };
}

function common({ name, action, cooldownMs, approval }: CompiledRule) {
  return { name, notifies: isNotify(action), cooldownMs, approval };
}

/** Text of PostgreSQL cannot contain NUL. */
function clean(event: NormalEvent): NormalEvent {
  const { name, severity, fingerprint } = event;
  if (!name.includes('\0') && severity?.includes('\0') !== true && !fingerprint.includes('\0')) return event;
  return {
    ...event,
    name: withoutNul(name),
    severity: severity === null ? null : withoutNul(severity),
    fingerprint: withoutNul(fingerprint),
  };
}

function withoutNul(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
