import { call, keyOf } from '../plan/make.ts';
import type { Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

const VERSIONS = [1, 2, 3];

/**
 * The objects of the set `site`, all of one version: it is a word of each command and the name of the host. Jobs of an
 * odd version need an approval.
 */
function site(version: number): string {
  const word = `site-v${version}`;
  const action = { command: ['succeeds', word], inventory: 'site' };
  const approval = version % 2 === 1 ? { approval: 'required' } : {};
  const when = 'event.source == "alertmanager" && event.status == "firing" && event.name == "Other"';
  return JSON.stringify({
    set: 'site',
    inventories: [{ name: 'site', text: `${word} ansible_connection=local\n` }],
    rules: [{ name: 'site', when, ...approval, action }],
    schedules: [{ name: 'site', cron: '* * * * *', ...approval, ...action }],
    workflows: [
      {
        name: 'site',
        steps: [
          { name: 'first', ...action },
          { name: 'second', ...action, approval: 'required' },
        ],
      },
    ],
  });
}

function apply(text: string, more: object = {}): Made {
  return call('local', 'config.apply', { text, ...more });
}

function switched(chance: Stream): Made {
  const operation = chance.pick(['rule.disable', 'rule.enable', 'schedule.disable', 'schedule.enable']);
  return call('local', operation, { name: 'site' });
}

function command(chance: Stream): Made {
  const key = keyOf(chance);
  return call('operator', 'command.run', { inventory: 'site', command: ['succeeds', key] }, key);
}

/** What the rule of the set acts on, each time about something else. */
function alert(chance: Stream): Made {
  const instance = `web-${chance.whole(0, 1e6)}`;
  const labels = { alertname: 'Other', instance };
  return { do: 'deliver', hook: 'alerts', alerts: [{ status: 'firing', fingerprint: instance, labels }] };
}

/** Operators change objects that jobs, runs and schedules name. */
export const CHANGES: SimulatedArea = {
  rarity: 3,
  scene: [['local', 'config.apply', { text: site(1) }]],
  makers: [
    [14, (chance) => apply(site(chance.pick(VERSIONS)))],
    // Everything of the set is removed.
    [1, () => apply('set: site\n', { prune: true })],
    [6, switched],
    [14, alert],
    [1, (chance) => call('local', `${chance.pick(['rule', 'schedule', 'workflow'])}.remove`, { name: 'site' })],
    // Refused while something names it.
    [1, () => call('local', 'inventory.remove', { name: 'site' })],
    [4, (chance) => call('operator', 'workflow.run', { name: 'site' }, keyOf(chance))],
    [3, command],
  ],
  atLast: [['local', 'schedule.disable', { name: 'site' }]],
};
