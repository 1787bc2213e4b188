/** Rules and events for tests of what comes of them, past the faces. */
import assert from 'node:assert/strict';
import type { NormalEvent } from '../../src/domain/event.ts';
import type { Action } from '../../src/domain/rule.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Turns } from '../../src/lib/turns.ts';
import { type Outcome, type ReactionDeps, receive, type Sender } from '../../src/reaction/receive.ts';
import { RuleBook } from '../../src/reaction/rule-book.ts';
import { insertRule, type NewRule } from '../../src/store/rules.ts';
import type { Store } from '../../src/store/store.ts';

export const WEBHOOK: Sender = { principal: 'webhook:am', owners: [], via: 'webhook', trigger: 'rule', depth: 0 };

export const TRUE: Action = { kind: 'command', command: ['true'], inventory: 'localhost', limit: null, timeout: null };

/** What one process works with; `wakes` counts how often its daemon was woken. */
export function reactionOf(store: Store): ReactionDeps & { wakes(): number } {
  let wakes = 0;
  return {
    store,
    clock: systemClock,
    wake: () => void (wakes += 1),
    approvalTtlMs: 3_600_000,
    rules: new RuleBook(store, systemClock),
    turns: new Turns(systemClock),
    wakes: () => wakes,
  };
}

/** Adds a rule that matches every alert of `alert`, and lets `rules` look again. */
export async function addRule(
  { store, rules }: Pick<ReactionDeps, 'store' | 'rules'>,
  name: string,
  some: Partial<NewRule> = {},
): Promise<void> {
  const rest = {
    cooldownMs: null,
    approval: 'none',
    approvalTtlMs: null,
    action: TRUE,
    owners: ['rolf'],
    addedBy: 'rolf',
  } as const;
  await store.write((tx) => insertRule(tx, { name, when: 'event.source == "generic"', ...rest, ...some }));
  rules.forget();
}

export function alert(some: Partial<NormalEvent> = {}): NormalEvent {
  return {
    source: 'generic',
    name: 'DiskFull',
    status: 'firing',
    severity: 'critical',
    fingerprint: 'disk-1',
    labels: { instance: 'db1' },
    annotations: {},
    ...some,
  };
}

/** What comes of one alert. */
export async function one(deps: ReactionDeps, some: Partial<NormalEvent> = {}): Promise<Outcome> {
  const [outcome] = await receive(deps, [alert(some)], WEBHOOK);
  assert.ok(outcome !== undefined);
  return outcome;
}

export async function jobCount(store: Store): Promise<number> {
  return (await store.db.selectFrom('jobs').select('id').execute()).length;
}
