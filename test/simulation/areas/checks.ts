import { call } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

const PORTS = ['192.0.2.10:22', '192.0.2.11:443'];
/** What a rule does about a target that is down. */
const RULE = `name: unreachable
when: event.source == "check" && event.status == "firing"
action:
  command: ["succeeds"]
  inventory: localhost
`;

/** Some are too short for a transition. */
function outage(chance: Stream): Made {
  const state = chance.pick(['refuses', 'silent'] as const);
  return { do: 'target', target: chance.pick(PORTS), state, forMs: chance.whole(1, chance.pick([6_000, 60_000])) };
}

export const CHECKS: SimulatedArea = {
  rarity: 3,
  scene: [
    ['local', 'rule.add', { text: RULE }],
    [
      'operator',
      'check.add',
      { name: 'ports', kind: 'tcp', interval: '3s', targets: PORTS.map((port, at) => `web${at}=${port}`) },
    ],
  ],
  makers: [
    [8, outage],
    [1, (chance) => call('operator', 'check.snooze', { name: 'ports', for: `${chance.whole(1, 40)}s` })],
    [1, () => call('reader', 'check.list', {})],
  ],
  // All targets are up in the end.
  unfinished: { check_targets: "status <> 'up'" },
  atRest: [
    {
      rule: 'B4',
      sql: "select name, status from check_targets where status <> 'up'",
      words: ({ name, status }) => `${String(name)} is up, and is shown as ${String(status)}`,
    },
    {
      rule: 'B5',
      sql: "select id, outcome from events where source = 'check' and outcome = 'received'",
      words: ({ id }) => `the transition ${String(id)} was never evaluated`,
    },
  ],
};
