import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROGRAM_ROOT } from '../files/program-files.ts';
import { INVARIANTS, InvariantBroken, type InvariantName, mustHold, onBroken } from './invariants.ts';

type Facts = Readonly<Record<string, string | number | boolean | null>>;

/** For each invariant facts that hold, and changes of them that each break it. */
const CASES: Readonly<Record<InvariantName, readonly [good: Facts, ...bad: readonly Facts[]]>> = {
  'claim.owner': [
    { job: 'j', state: 'running', daemon: 'd', by: 'd' },
    { state: 'queued' },
    { daemon: 'e' },
    { daemon: null },
  ],
  'claim.count': [{ jobs: 2, limit: 2, ids: 2, keyed: 1, keys: 1 }, { limit: 1 }, { ids: 1 }, { keyed: 2 }],
  'settle.decider': [
    { approval: 'a', to: 'approved', by: 'ana', via: 'api' },
    { by: null },
    { via: null },
    { by: '' },
    { to: 'expired' },
  ],
  'settle.asker': [{ approval: 'a', owner: 'ana', isAsking: false }, { isAsking: true }],
  'settle.time': [{ approval: 'a', to: 'approved', at: 1, deadline: 2 }, { at: 2 }, { at: null }, { to: 'expired' }],
  'settle.yes': [{ job: 'j', approval: 'approved' }, { approval: 'rejected' }, { approval: 'pending' }],
  'seal.hides': [{ key: 'k', active: 'k', isOpen: false }, { key: 'l' }, { key: null }, { isOpen: true }],
  'seal.length': [{ bytes: 1, sealed: 41, overhead: 40 }, { bytes: 2 }],
  'fence.whole': [{ job: 'j', daemon: 'd', generation: 1 }, { daemon: '' }, { generation: 0.5 }],
  'fence.one': [{ job: 'j', changed: 1 }, { changed: 2 }],
  'fold.status': [
    { check: 'c', target: 't', status: 'up', observations: 3, enough: 3 },
    { status: 'unknown' },
    { observations: 2 },
  ],
  'project.kind': [{ operation: 'job.get', kind: 'job.get', isListed: true }, { isListed: false }],
  'project.shape': [{ kind: 'job.get', faults: '' }, { faults: 'id:invalid_type' }],
  'ledger.entry': [
    { operation: 'o', principal: 'p', owner: 'w', via: 'v' },
    { operation: '' },
    { principal: '' },
    { owner: '' },
    { via: '' },
  ],
  'ledger.head': [{ chain: 'c', length: 0, isGenesis: true }, { length: 1 }, { isGenesis: false }],
  'deliver.outcome': [
    { notification: 'n', target: 't', state: 'sent', failure: false },
    { failure: true },
    { state: 'dead' },
    { state: 'gone' },
  ],
  'deliver.one': [{ notification: 'n', target: 't', changed: 1 }, { changed: 2 }],
};

const NAMES = Object.keys(INVARIANTS) as InvariantName[];

for (const name of NAMES) {
  test(`${name}: what breaks it is refused`, () => {
    const [good, ...bad] = CASES[name];
    mustHold(name, good as never);
    for (const change of bad)
      assert.throws(() => mustHold(name, { ...good, ...change } as never), InvariantBroken, JSON.stringify(change));
  });
}

test('a listener hears the first break of each invariant, with its facts', () => {
  const heard: unknown[] = [];
  const end = onBroken(({ invariant, facts }) => heard.push([invariant, facts]));
  const facts = { job: 'j', changed: 2 };
  for (let n = 0; n < 3; n += 1) assert.throws(() => mustHold('fence.one', facts));
  assert.throws(() => mustHold('settle.yes', { job: 'j', approval: 'expired' }));
  end();
  assert.throws(() => mustHold('settle.asker', { approval: 'a', owner: 'o', isAsking: true }));
  assert.deepEqual(heard, [
    ['fence.one', facts],
    ['settle.yes', { job: 'j', approval: 'expired' }],
  ]);
});

test('the page of assertions has a row for each', () => {
  const page = readFileSync(join(PROGRAM_ROOT, 'docs/contributing/assertions.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z.]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, NAMES);
});
