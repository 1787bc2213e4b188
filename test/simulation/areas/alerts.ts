import { call, keyOf, some } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

/** Not again within its cooldown. */
const DISK = `name: disk
when: event.source == "alertmanager" && event.status == "firing" && event.name == "DiskFull"
cooldown: 15s
action:
  command: ["succeeds"]
  inventory: localhost
`;
/** Not again while its job is open. */
const DOWN = `name: down
when: event.source == "alertmanager" && event.status == "firing" && event.name == "Down"
action:
  command: ["floods"]
  inventory: localhost
`;
const HOST = `name: wish
when: event.source == "host"
approval: required
action:
  command: ["succeeds"]
  inventory: localhost
`;

/** Of few things, so that alerts repeat each other. */
function delivery(chance: Stream): Made {
  const alert = () => {
    const [name, instance] = [chance.pick(['DiskFull', 'Down', 'Other']), chance.pick(['web1', 'web2'])];
    const status = chance.pick(['firing', 'firing', 'firing', 'resolved'] as const);
    return { status, fingerprint: `${name}-${instance}`, labels: { alertname: name, instance } };
  };
  return { do: 'deliver', hook: 'alerts', alerts: Array.from({ length: chance.whole(1, 3) }, alert) };
}

function wish(chance: Stream): Made {
  const wait = chance.chance(0.3) ? { wait: true, timeout: '5s' } : {};
  return call('host', 'host.request', { request: chance.pick(['reboot', 'space']), ...wait }, keyOf(chance));
}

export const ALERTS: SimulatedArea = {
  scene: [
    ['local', 'rule.add', { text: DISK }],
    ['local', 'rule.add', { text: DOWN }],
    ['local', 'rule.add', { text: HOST }],
    ['local', 'webhook.add', { name: 'alerts', source: 'alertmanager' }],
    ['local', 'deadman.add', { name: 'quiet', webhook: 'alerts', every: '10s' }],
  ],
  makers: [
    [4, delivery],
    [2, wish],
    [2, () => call('local', 'silence.add', { rule: 'disk', for: '20s', reason: 'new disks' })],
    [2, (chance) => call('local', 'silence.remove', { id: some(chance, 'silence') })],
    [1, () => call('operator', 'mute.add', { scope_kind: 'alert', scope_value: 'Down', for: '20s' })],
    [1, (chance) => call('operator', 'mute.remove', { id: some(chance, 'mute') })],
  ],
  picks: { silence: 'silences', mute: 'mutes' },
  // No alert comes any more, and the watch has seen the last one.
  unfinished: {
    deadmen: `tripped_at is null or tripped_at - every_ms <
      coalesce((select last_heard_at from webhooks where webhooks.name = deadmen.webhook), 0)`,
  },
  atRest: [
    {
      rule: 'H5',
      sql: 'select name from deadmen where tripped_at is null',
      words: ({ name }) => `the silence of ${String(name)} was not reported`,
    },
    {
      rule: 'E3',
      sql: `select source, fingerprint, count(*) as n from events where source in ('silence', 'mute')
        group by source, fingerprint having count(*) > 1`,
      words: ({ source, fingerprint, n }) => `the ${String(source)} ${String(fingerprint)} has ${String(n)} ends`,
    },
  ],
};
