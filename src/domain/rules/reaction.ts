import { rfc3339 } from '../../lib/clock.ts';
import { noDecider } from '../approvals/deciders.ts';
import { formatDuration, shortDuration } from '../duration.ts';
import { CHAIN_MAX, type EventOutcome, type TraceStep } from '../events/event.ts';
import { NO_STANDING, type ReactionFacts, type Standing, type TriedRule } from './reaction-facts.ts';

/** Decides the outcome of an event from facts alone, for `svc rule test` and for real events. */

export interface ReactionDecision {
  /** `fired` and `gated` are decisions: the job is not made yet. */
  readonly outcome: EventOutcome;
  /** In words; of `fired` and `gated`, see `doneReason`. */
  readonly reason: string;
  /** The rule that decided, else the first one that the outcome is due to. */
  readonly rule: string | null;
  /** Rules that tell people about it. */
  readonly notifies: readonly string[];
  /** Without the rules that did not match, and those behind the one that decided. */
  readonly trace: readonly TraceStep[];
}

/** The rule that decides: the first that matches and does more than tell people. */
export function decidingRule<R extends Pick<TriedRule, 'notifies' | 'result'>>(tried: readonly R[]): R | undefined {
  return tried.find((rule) => rule.result === 'matched' && !rule.notifies);
}

/** The whole decision. */
export function decideReaction(facts: ReactionFacts): ReactionDecision {
  const trace: TraceStep[] = [];
  const notifies: string[] = [];
  const held: Held[] = [];
  let deciding: Verdict | null = null;
  for (const rule of facts.tried) {
    trace.push(tryStep(rule));
    if (rule.result !== 'matched') continue;
    const verdict = guard(rule, facts, trace);
    if (!rule.notifies) {
      deciding = verdict;
      break;
    }
    if (verdict.outcome === 'matched') notifies.push(rule.name);
    else held.push({ rule: rule.name, ...verdict });
  }
  const said =
    deciding === null
      ? undecided(facts, notifies, held)
      : { ...deciding, rule: decidingRule(facts.tried)?.name ?? null };
  return { ...said, notifies, trace };
}

interface Verdict {
  readonly outcome: EventOutcome;
  readonly reason: string;
}

interface Held extends Verdict {
  readonly rule: string;
}

/** No rule decided: a rule that only notifies comes first, then one that was stopped, then an error. */
function undecided(
  facts: ReactionFacts,
  notifies: readonly string[],
  held: readonly Held[],
): Verdict & { readonly rule: string | null } {
  const [notifier] = notifies;
  if (notifier !== undefined) {
    return {
      outcome: 'matched',
      reason: `Rule ${notifier}${others(notifies)} matched and only notifies.`,
      rule: notifier,
    };
  }
  const [first] = held;
  if (first !== undefined) return first;
  const errors = facts.tried.filter((rule) => rule.result === 'error');
  const [failed] = errors;
  if (failed !== undefined) {
    return {
      outcome: 'error',
      reason: `Rule ${failed.name}${others(errors)} could not be evaluated: ${failed.error ?? UNKNOWN_REASON}.`,
      rule: failed.name,
    };
  }
  const count = facts.unmatched;
  const reason =
    count === 0
      ? 'No enabled rule is for this source of events.'
      : `No rule matched; ${count === 1 ? '1 was' : `${count} were`} tried.`;
  return { outcome: 'ignored', reason, rule: null };
}

/** Behind the name of the first: the steps have the others. */
function others({ length }: readonly unknown[]): string {
  return length === 1 ? '' : ` (and ${length - 1} more)`;
}

function tryStep({ name, result, error }: TriedRule): TraceStep {
  const step = { step: 'rule', rule: name } as const;
  return result === 'matched'
    ? { ...step, result: 'passed', why: 'It matched.' }
    : { ...step, result, why: `It could not be evaluated: ${error ?? UNKNOWN_REASON}.` };
}

const UNKNOWN_REASON = 'no reason is known';

interface Stop {
  /** Of the event. */
  readonly reason: string;
  /** Of the step; the reason again where it is missing. */
  readonly why?: string;
}

interface Guard {
  readonly step: TraceStep['step'];
  /** Only for rules that make a job. */
  readonly jobsOnly: boolean;
  readonly passed: string;
  stops(rule: TriedRule, standing: Standing, facts: ReactionFacts): Stop | null;
  /** Of one that stops nothing: what of it could not be asked, as a sentence; null where all could. */
  fails?(rule: TriedRule): string | null;
}

/** In the order in which they are asked. */
const GUARDS: readonly Guard[] = [
  {
    step: 'silence',
    jobsOnly: false,
    passed: 'No open silence stops it.',
    stops: ({ name, silence }) =>
      silence === null
        ? null
        : { reason: `Silence ${silence.id} stops rule ${name} until ${rfc3339(silence.expiresAt)}: ${silence.reason}` },
    fails({ failedSilences }) {
      const [first] = failedSilences;
      return first === undefined
        ? null
        : `Silence ${first.id}${others(failedSilences)} could not be evaluated and stops nothing: ${first.error}.`;
    },
  },
  {
    step: 'cooldown',
    jobsOnly: false,
    passed: 'It did not act for this fingerprint within its cooldown.',
    stops({ name, cooldownMs }, { lastFiredAt }, { now }) {
      if (cooldownMs === null || lastFiredAt === null) return null;
      // A clock that was set back must not stop a rule for as long as it was wrong.
      const sinceMs = Math.abs(now - lastFiredAt);
      if (sinceMs >= cooldownMs) return null;
      return {
        reason:
          `Rule ${name} acted for this fingerprint ${shortDuration(sinceMs)} ago, and its cooldown is ` +
          `${formatDuration(cooldownMs)}.`,
      };
    },
  },
  {
    step: 'duplicate',
    jobsOnly: true,
    passed: 'No job of it for this fingerprint and status is open.',
    stops: ({ name }, { openJob }) =>
      openJob === null
        ? null
        : {
            reason:
              `Duplicate: rule ${name} made ${openJob.id} for this fingerprint and status, and that is ` +
              `${openJob.state}.`,
          },
  },
  {
    step: 'cordon',
    jobsOnly: true,
    passed: 'The service is not cordoned.',
    stops: (_rule, _standing, { cordoned }) =>
      cordoned ? { reason: 'cordoned', why: 'The service is cordoned: events make no jobs.' } : null,
  },
  {
    step: 'loop',
    jobsOnly: true,
    passed: `The chain before it has at most ${CHAIN_MAX} jobs.`,
    stops: ({ name }, _standing, { depth }) => (depth > CHAIN_MAX ? loopStop(name, depth) : null),
  },
];

/** The reason is the word of the contract; the step has the details. */
function loopStop(rule: string, depth: number): Stop {
  const chain = `the chain before it has ${depth} jobs, each made by the end of another; the limit is ${CHAIN_MAX}`;
  return {
    reason: 'loop',
    why:
      `Rule ${rule} makes no job of this event: ${chain}. svc job list shows their rules (rule:NAME); let the ` +
      'expression of one of them exclude the end of the others.',
  };
}

/** Asks what may hold a rule that matched, and says what it may do. */
function guard(rule: TriedRule, facts: ReactionFacts, trace: TraceStep[]): Verdict {
  const standing = facts.standings.get(rule.name) ?? NO_STANDING;
  let stopped: Stop | null = null;
  const add: AddStep = (step, result, why) => void trace.push({ step, rule: rule.name, result, why });
  for (const each of GUARDS) {
    if (each.jobsOnly && rule.notifies) continue;
    if (stopped !== null) {
      add(each.step, 'not reached', NOT_REACHED);
      continue;
    }
    stopped = each.stops(rule, standing, facts);
    const failure = stopped === null ? (each.fails?.(rule) ?? null) : null;
    if (stopped !== null) add(each.step, 'stopped', stopped.why ?? stopped.reason);
    else if (failure !== null) add(each.step, 'error', failure);
    else add(each.step, 'passed', each.passed);
  }
  if (stopped !== null) {
    if (!rule.notifies) add('gate', 'not reached', NOT_REACHED);
    add('fire', 'not reached', NOT_REACHED);
    return { outcome: 'suppressed', reason: stopped.reason };
  }
  return act(rule, add);
}

const NOT_REACHED = 'An earlier step had stopped it.';

type AddStep = (step: TraceStep['step'], result: TraceStep['result'], why: string) => void;

function act(rule: TriedRule, add: AddStep): Verdict {
  if (rule.unfit !== null) {
    if (!rule.notifies) add('gate', 'not reached', NOT_REACHED);
    add('fire', 'error', `Its action cannot be filled in: ${rule.unfit}.`);
    return {
      outcome: 'error',
      reason: `Rule ${rule.name} matched, but its action cannot be filled in: ${rule.unfit}.`,
    };
  }
  if (rule.notifies) {
    add('fire', 'passed', 'It notifies.');
    return { outcome: 'matched', reason: `Rule ${rule.name} matched and only notifies.` };
  }
  if (rule.approval === 'required') {
    add('gate', 'stopped', 'It requires approval: the job waits for a decision.');
    add('fire', 'not reached', 'The job is queued when it is approved.');
    return { outcome: 'gated', reason: '' };
  }
  add('gate', 'passed', 'It requires no approval.');
  add('fire', 'passed', 'The job is queued.');
  return { outcome: 'fired', reason: '' };
}

/** The reason of an event whose job was made. */
export function doneReason(
  rule: string,
  job: { readonly id: string; readonly approvalId: string | null; readonly missing?: readonly string[] },
): string {
  return job.approvalId === null
    ? `Rule ${rule} matched: ${job.id} is queued.`
    : `Rule ${rule} matched: ${job.id} waits for the approval ${job.approvalId}.${hint(job.missing)}`;
}

function hint(missing: readonly string[] = []): string {
  return missing.length === 0 ? '' : ` ${noDecider(missing)}`;
}

/** The decision once its job was refused; `why` is a sentence. */
export function refused(decision: ReactionDecision, why: string): ReactionDecision {
  const trace = decision.trace.filter(
    ({ step, rule }) => rule !== decision.rule || (step !== 'gate' && step !== 'fire'),
  );
  const at = decision.trace.findIndex(({ step, rule }) => rule === decision.rule && step === 'gate');
  const steps = [
    { step: 'gate', rule: decision.rule, result: 'not reached', why: 'The job was refused before.' },
    { step: 'fire', rule: decision.rule, result: 'error', why },
  ] as const;
  return {
    ...decision,
    outcome: 'error',
    reason: `Rule ${decision.rule ?? ''} matched, but nothing was queued: ${why}`,
    trace: trace.toSpliced(at < 0 ? trace.length : at, 0, ...steps),
  };
}

/** The decision without a rule that must not tell people anything; `why` is a sentence. */
export function withoutNotify(decision: ReactionDecision, name: string, why: string): ReactionDecision {
  const isFire = ({ step, rule }: TraceStep): boolean => step === 'fire' && rule === name;
  const kept = {
    ...decision,
    notifies: decision.notifies.filter((each) => each !== name),
    trace: decision.trace.map((each) => (isFire(each) ? ({ ...each, result: 'error', why } as const) : each)),
  };
  // The decision of another rule remains.
  if (decision.rule !== name || decision.outcome !== 'matched') return kept;
  return { ...kept, outcome: 'error', reason: `Rule ${name} matched, but no one was notified: ${why}` };
}
