import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DaemonFacts, reasonOf } from './reason.ts';

type State = DaemonFacts['nodes'][number]['state'];

interface Case {
  readonly one?: State;
  readonly two?: State;
  readonly node?: string;
  readonly alive?: true;
  readonly isCordoned?: true;
  readonly restarting?: readonly string[];
  readonly why: string | null;
  readonly verb?: string | null;
}

const ONE = 'The daemon "one"';
const CASES: readonly Case[] = [
  { why: 'No daemon runs', verb: 'serve' },
  { one: 'gone', two: 'gone', why: 'No daemon runs', verb: 'serve' },
  { one: 'gone', node: 'one', why: 'No daemon runs', verb: 'serve' },
  { one: 'gone', alive: true, why: 'No daemon runs', verb: 'serve' },
  { one: 'gone', two: 'running', why: null },
  { one: 'gone', two: 'running', node: 'one', why: `${ONE} does not run`, verb: null },
  { two: 'running', node: 'one', alive: true, why: `${ONE} does not run`, verb: null },
  { one: 'cordoned', two: 'running', why: null },
  { one: 'cordoned', two: 'running', node: 'two', why: null },
  { one: 'cordoned', two: 'running', node: 'one', why: `${ONE} is cordoned`, verb: 'maintenance uncordon --node one' },
  { one: 'cordoned', two: 'gone', why: `${ONE} is cordoned`, verb: 'maintenance uncordon --node one' },
  { one: 'cordoned', two: 'cordoned', why: 'Each daemon is cordoned', verb: 'maintenance uncordon --node one' },
  { one: 'cordoned', isCordoned: true, why: 'The service is cordoned', verb: 'maintenance uncordon' },
  { one: 'cordoned', node: 'one', isCordoned: true, why: 'The service is cordoned', verb: 'maintenance uncordon' },
  { one: 'cordoned', alive: true, isCordoned: true, why: null },
  { one: 'cordoned', restarting: ['one'], why: `${ONE} restarts in place` },
  { one: 'cordoned', two: 'cordoned', restarting: ['one'], why: `${ONE} restarts in place` },
  { one: 'cordoned', two: 'cordoned', node: 'two', restarting: ['one'], why: 'The daemon "two" is cordoned' },
  // The restart ends, and nothing is claimed.
  { one: 'cordoned', restarting: ['one'], isCordoned: true, why: 'The service is cordoned' },
];

test('why no daemon takes a job follows from the daemons, their cordons and restarts', () => {
  for (const { one, two, node = null, alive, isCordoned = false, restarting = [], why, verb } of CASES) {
    const nodes = Object.entries({ one, two }).flatMap(([name, state]) =>
      state === undefined ? [] : [{ name, state }],
    );
    const reason = reasonOf({ nodes, isCordoned, restarting }, { node, claims: alive !== true });
    const label = JSON.stringify({ nodes, node, alive, isCordoned, restarting });
    assert.equal(reason?.why ?? null, why, label);
    if (verb === undefined) continue;
    const { verb: found = null, flags = '' } = reason?.cure ?? {};
    assert.equal(found === null ? null : found + flags, verb, label);
  }
});
