/**
 * The compiled rules of a store, evaluated for events that match no rule, without the other steps of an event.
 */
import { join } from 'node:path';
import type { EventFacts } from '../../src/domain/events/event.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { testKeyring } from '../../test/support/seal.ts';
import { CompiledRules } from '../../src/reaction/rules/compiled-rules.ts';
import { insertRule } from '../../src/store/rules/rules.ts';
import { openStore } from '../../src/store/store.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import { benchRules, type EvaluateOrder } from './reaction-orders.ts';

const FIRST_MS = 1_000;
const ACTION = { kind: 'command', command: ['/bin/true'], inventory: 'localhost', limit: null, timeout: null } as const;
const REST = {
  cooldownMs: null,
  approval: 'none',
  approvalTtlMs: null,
  action: ACTION,
  owners: ['bench'],
  addedBy: 'bench',
} as const;

/** New for each event: what is made of one for its rules is made again. */
function facts(i: number): EventFacts {
  return {
    source: 'alertmanager',
    name: 'DiskFull',
    status: 'firing',
    severity: 'warning',
    fingerprint: `fp-${i}`,
    labels: {
      alertname: 'DiskFull',
      job: 'node',
      severity: 'warning',
      instance: `web${i % 100}:9100`,
      device: '/dev/sda1',
    },
    annotations: { summary: 'The disk is nearly full.' },
    netgroup: 'away',
    receivedAt: 1_790_000_000_000 + i,
  };
}

async function perSecond(book: CompiledRules, durationMs: number): Promise<number> {
  const before = monotonicMs();
  let count = 0;
  for (let i = 0; monotonicMs() - before < durationMs; i += 1) {
    const event = facts(i);
    for (const rule of (await book.current()).rulesFor(event.source).rules) {
      const answer = rule.evaluate(event);
      if (!('value' in answer) || answer.value) throw new Error(`${rule.name}: ${JSON.stringify(answer)}`);
      count += 1;
    }
  }
  return count / ((monotonicMs() - before) / 1000);
}

for await (const { dir, rules, form, durationMs } of orders<EvaluateOrder>()) {
  const store = await openStore({
    location: { file: join(dir, `book-${form}-${rules}.db`) },
    clock: systemClock,
    daemonId: 'dmn_bench',
    keyring: testKeyring,
  });
  await store.write(async (tx) => {
    for (const { name, when } of benchRules(0, rules, form)) await insertRule(tx, { name, when, ...REST });
  });
  const book = new CompiledRules(store, systemClock);
  await book.current();
  say({ firstPerSecond: await perSecond(book, FIRST_MS), perSecond: await perSecond(book, durationMs) });
  await store.close();
}
