import type { CheckKind } from '../../../domain/checks/check.ts';
import { isNeverProbed } from '../../../domain/checks/kinds.ts';
import { TargetReader } from '../../../domain/checks/target.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { shortDuration } from '../../../domain/duration.ts';
import { line } from '../../text/safe.ts';
import { readData } from '../connection/client.ts';
import { placeFlags, type Session } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';

/** Targets that are probed for the remark; others wait for their first probe by the daemon. */
const PROBED_MAX = 10;
/** A person waits for it: a target that is silent takes up to 10 s. */
const WAIT_MS = 5_000;
/** Names in one sentence. */
const NAMED_MAX = 5;

type Check = Projected<'check.get'>;
type Result = Projected<'check.probe'>['targets'][number];

/** After a check was made or changed: what no probe will ever reach, and which of the first targets are down now. */
export async function mentionDown(session: Session, answered: unknown): Promise<void> {
  const check = answered as Check;
  const say = (text: string): void => void session.terminal.stderr.write(line(text));
  const refused = refusedTargets(check.kind, session.fields['targets']);
  if (refused.length > 0)
    say(`Never up, because probes of these addresses are refused (forbidden_address): ${listed(refused)}.`);
  if (!check.enabled) return;
  const names = check.targets.map(({ name }) => name).filter((name) => !refused.includes(name));
  const probed = names.slice(0, PROBED_MAX);
  if (probed.length === 0) return;
  const found = await probeEach(session, check.name, probed);
  for (const sentence of sentences(check.name, found, placeFlags(session))) say(sentence);
  if (names.length > probed.length) say(`The other ${names.length - probed.length} targets were not probed here.`);
}

/** The targets of `NAME=SPEC` that name an address that no probe may reach. A name is resolved only by a probe. */
export function refusedTargets(kind: CheckKind, texts: unknown): string[] {
  if (!Array.isArray(texts)) return [];
  const reader = new TargetReader(kind);
  return texts
    .map((text) => reader.read(String(text)))
    .flatMap(({ name, spec }) => (isNeverProbed(kind, spec) ? [name] : []));
}

interface Probed {
  /** Those that came in time. */
  readonly results: readonly Result[];
  /** Targets of which none came. */
  readonly silent: readonly string[];
  /** Why others were not probed, each reason once: the check itself was stored. */
  readonly refusals: readonly string[];
}

async function probeEach({ client, terminal }: Session, name: string, targets: readonly string[]): Promise<Probed> {
  const { call } = operationVerb(TREE, 'check probe');
  const ended = new AbortController();
  const cancel = terminal.clock.after(WAIT_MS, () => ended.abort());
  const refusals = new Set<string>();
  const silent: string[] = [];
  const probe = async (target: string): Promise<readonly Result[]> => {
    try {
      const answer = await readData(await client.call(call, { name, target }, { signal: ended.signal }));
      return (answer.data as Projected<'check.probe'>).targets;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (ended.signal.aborted) silent.push(target);
      else refusals.add(error.message);
      return [];
    }
  };
  try {
    const results = (await Promise.all(targets.map(probe))).flat();
    return { results, silent, refusals: [...refusals] };
  } finally {
    cancel();
  }
}

function sentences(check: string, { results, silent, refusals }: Probed, place: string): string[] {
  const down = results.filter(({ up }) => !up);
  const see = `See why: svc check probe ${check}${place}`;
  return [
    ...(down.length === 0
      ? []
      : [`Down now: ${listed(down.map(({ target, detail }) => `${target} (${detail})`))}. ${see}`]),
    ...(silent.length === 0 ? [] : [`No answer within ${shortDuration(WAIT_MS)}: ${listed(silent)}. ${see}`]),
    ...(refusals.length === 0 ? [] : [`Not probed: ${refusals.join(' ')}`]),
    ...(down.length + silent.length + refusals.length === 0 ? [`Probed now: ${results.length} up.`] : []),
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return `${names.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
