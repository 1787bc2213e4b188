/**
 * What must hold where state changes hands, in production too. A rule that does not hold is a fault of this program:
 * the write, or the answer, is refused. They are listed in `docs/contributing/assertions.md`.
 */

/** Identifiers, states and counts: they are logged. */
type Facts = Readonly<Record<string, string | number | boolean | null>>;

interface Invariant<F extends Facts> {
  /** Completes "it must hold that". */
  readonly words: string;
  readonly holds: (facts: F) => boolean;
}

function rule<F extends Facts>(words: string, holds: (facts: F) => boolean): Invariant<F> {
  return { words, holds };
}

/** The first part of a name is the seam. */
export const INVARIANTS = {
  'claim.owner': rule(
    'a claimed job runs under the daemon that claimed it',
    (facts: { job: string; state: string; daemon: string | null; by: string }) =>
      facts.state === 'running' && facts.daemon === facts.by,
  ),
  'claim.count': rule(
    'a claim has no more jobs than were asked for, each once, and one of a key',
    (facts: { jobs: number; limit: number; ids: number; keyed: number; keys: number }) =>
      facts.jobs <= facts.limit && facts.ids === facts.jobs && facts.keys === facts.keyed,
  ),
  'settle.decider': rule(
    'a decision has a person and a face, and an expiry has neither',
    (facts: { approval: string; to: string; by: string | null; via: string | null }) =>
      facts.to === 'expired' ? facts.by === null && facts.via === null : Boolean(facts.by) && Boolean(facts.via),
  ),
  'settle.asker': rule(
    'who asked for something does not decide about it',
    (facts: { approval: string; owner: string; isAsking: boolean }) => !facts.isAsking,
  ),
  'settle.time': rule(
    'a decision comes before the deadline, and an expiry not before it',
    (facts: { approval: string; to: string; at: number | null; deadline: number }) =>
      facts.at !== null && (facts.to === 'expired' ? facts.at >= facts.deadline : facts.at < facts.deadline),
  ),
  'settle.yes': rule(
    'a job whose approval is not a yes is not queued',
    (facts: { job: string; approval: string | null }) => facts.approval === null || facts.approval === 'approved',
  ),
  'seal.hides': rule(
    'sealed data names the active key and does not begin with what it hides',
    (facts: { key: string | null; active: string; isOpen: boolean }) => facts.key === facts.active && !facts.isOpen,
  ),
  'seal.length': rule(
    'what is opened is as long as what was sealed',
    (facts: { bytes: number; sealed: number; overhead: number }) => facts.bytes + facts.overhead === facts.sealed,
  ),
  'fence.whole': rule(
    'a run writes in the name of the daemon that claimed its job',
    (facts: { job: string; daemon: string; generation: number }) =>
      facts.daemon !== '' && Number.isInteger(facts.generation),
  ),
  'fence.one': rule(
    'a fenced write changes one job at most, and that of the fence',
    (facts: { job: string; changed: number }) => facts.changed <= 1,
  ),
  'fold.status': rule(
    'the status of a target changes to a known one, after as many observations as have to agree',
    (facts: { check: string; target: string; status: string; observations: number; enough: number }) =>
      facts.status !== 'unknown' && facts.observations === facts.enough,
  ),
  'project.kind': rule(
    'an operation answers with a kind of its row',
    (facts: { operation: string; kind: string; isListed: boolean }) => facts.isListed,
  ),
  'project.shape': rule(
    'an answer has the shape of its view',
    (facts: { kind: string; faults: string }) => facts.faults === '',
  ),
  'ledger.entry': rule(
    'a row of the ledger says who did what, for whom and by which face',
    (facts: { operation: string; principal: string; owner: string; via: string }) =>
      facts.operation !== '' && facts.principal !== '' && facts.owner !== '' && facts.via !== '',
  ),
  'ledger.head': rule(
    'a chain has the hash of its last row, and an empty one has none',
    (facts: { chain: string; length: number; isGenesis: boolean }) => facts.isGenesis === (facts.length === 0),
  ),
  'deliver.outcome': rule(
    'what was sent has no failure, and what was given up after a try has one',
    (facts: { notification: string; target: string; state: string; failure: boolean }) =>
      facts.failure === (facts.state !== 'sent'),
  ),
  'deliver.one': rule(
    'a try changes one delivery at most',
    (facts: { notification: string; target: string; changed: number }) => facts.changed <= 1,
  ),
} as const;

export type InvariantName = keyof typeof INVARIANTS;

type FactsOf<N extends InvariantName> = Parameters<(typeof INVARIANTS)[N]['holds']>[0];

/** A fault of this program. Nothing that depends on it may be written. */
export class InvariantBroken extends Error {
  readonly invariant: InvariantName;
  readonly facts: Facts;

  constructor(invariant: InvariantName, facts: Facts) {
    super(`a fault of the service: it must hold that ${INVARIANTS[invariant].words} (${invariant})`);
    this.name = 'InvariantBroken';
    this.invariant = invariant;
    this.facts = facts;
  }
}

const listeners = new Set<(broken: InvariantBroken) => void>();

/** Calls back for the first break of each invariant; the result ends that. The listener must not throw. */
export function onBroken(listener: (broken: InvariantBroken) => void): () => void {
  const known = new Set<InvariantName>();
  const each = (broken: InvariantBroken): void => {
    if (known.has(broken.invariant)) return;
    known.add(broken.invariant);
    listener(broken);
  };
  listeners.add(each);
  return () => void listeners.delete(each);
}

/** Throws InvariantBroken, so that the write or the answer under way is refused. */
export function mustHold<N extends InvariantName>(name: N, facts: FactsOf<N>): void {
  const { holds } = INVARIANTS[name] as unknown as Invariant<FactsOf<N>>;
  if (holds(facts)) return;
  const broken = new InvariantBroken(name, facts);
  for (const listener of listeners) listener(broken);
  throw broken;
}

/** `name=value` for each fact. */
export function factsInWords(facts: Facts): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
}
