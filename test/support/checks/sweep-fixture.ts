/** A sweep with probes that the test answers, on a store and a clock of the test. */
import { SHARDS } from '../../../src/domain/checks/sweep/slots.ts';
import { TaskSlicer } from '../../../src/lib/flow/cooperative.ts';
import { toJson } from '../../../src/lib/json.ts';
import { CompiledRules } from '../../../src/reaction/rules/compiled-rules.ts';
import type { ReactionDeps } from '../../../src/reaction/types.ts';
import type { Ownership } from '../../../src/daemon/checks/ownership.ts';
import { Sweep, type SweepOptions } from '../../../src/daemon/checks/sweep.ts';
import type { CheckRow, CheckTargetRow } from '../../../src/store/schema/schema.ts';
import type { Store } from '../../../src/store/store.ts';
import { HandClock } from '../clock.ts';

/** One daemon that owns everything. */
export function ownsAll(clock: HandClock): Ownership {
  const ahead = clock.now() - clock.monotonic();
  const all = new Set(Array.from({ length: SHARDS }, (_, shard) => shard));
  return {
    renew: async () => undefined,
    shards: () => all,
    ahead: () => ahead,
    now: () => clock.now(),
    release: async () => undefined,
  };
}

/** Adds a tcp check, or changes one. */
export async function putCheck(
  store: Store,
  name: string,
  targets: readonly string[],
  some: Partial<CheckRow> = {},
): Promise<void> {
  await store.write(async ({ db }) => {
    const before = await db.selectFrom('checks').selectAll().where('name', '=', name).executeTakeFirst();
    const row: CheckRow = {
      name,
      kind: 'tcp',
      interval_ms: 10_000,
      enabled: 1,
      options: toJson({}),
      created_at: before?.created_at ?? Date.now(),
      updated_at: Date.now(),
      revision: (before?.revision ?? 0) + 1,
      ...some,
    };
    await db
      .insertInto('checks')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
    await db
      .deleteFrom('check_targets')
      .where('check_name', '=', name)
      .where('name', 'not in', [...targets, ''])
      .execute();
    for (const [position, target] of targets.entries())
      await db
        .insertInto('check_targets')
        .values(targetRow(name, target, position))
        .onConflict((conflict) => conflict.columns(['check_name', 'name']).doNothing())
        .execute();
  });
}

function targetRow(check: string, name: string, position: number): CheckTargetRow {
  return {
    check_name: check,
    name,
    position,
    spec: `10.0.0.1:${position + 1}`,
    credentials: null,
    key_id: null,
    status: 'unknown',
    was_up: 0,
    duration_ms: null,
    detail: null,
    certificate_days: null,
    last_change: null,
    pending: null,
    snoozed_until: null,
  };
}

export interface SweepFixture {
  readonly clock: HandClock;
  readonly sweep: Sweep;
  readonly reaction: ReactionDeps;
  /** `check/target` of those that do not answer. */
  readonly down: Set<string>;
  readonly probed: string[];
  readonly errors: unknown[];
  /** Lets time pass: probes run, passes are made each second, and what they found is written. */
  readonly pass: (ms: number, stepMs?: number) => Promise<void>;
}

export function sweepFixture(store: Store, some: Partial<SweepOptions> = {}, clock = new HandClock()): SweepFixture {
  const reaction: ReactionDeps = {
    store,
    clock,
    wake: () => undefined,
    approvalTtlMs: 3_600_000,
    rules: new CompiledRules(store, clock),
    turns: new TaskSlicer(clock),
    onError: () => undefined,
  };
  const down = new Set<string>();
  const probed: string[] = [];
  const errors: unknown[] = [];
  const sweep = new Sweep({
    store,
    clock,
    reaction,
    ownership: ownsAll(clock),
    canary: null,
    probe: async ({ row: { check_name: check, name } }) => {
      probed.push(`${check}/${name}`);
      const up = !down.has(`${check}/${name}`);
      return { up, detail: up ? 'ok' : 'refused', durationMs: 3, certificateDays: null };
    },
    netgroupsNow: async () => (kind) => (kind === 'tcp' ? 'dc' : null),
    self: () => 'dmn_test',
    maxRunning: 1_000,
    onError: (error) => void errors.push(error),
    ...some,
  });
  const { signal } = new AbortController();
  const pass = async (ms: number, stepMs = 100): Promise<void> => {
    for (let gone = 0; gone < ms; gone += stepMs) {
      clock.advance(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
      await sweep.settled();
      if ((gone + stepMs) % 1_000 === 0) await sweep.pass(signal);
    }
  };
  return { clock, sweep, reaction, down, probed, errors, pass };
}
