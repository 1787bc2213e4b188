import { call, keyOf, some } from '../plan/make.ts';
import type { SimulatedArea } from './area.ts';

const RULE = `name: repair
when: event.source == "job-outcome" && event.labels.kind == "command" && event.labels.state == "failed"
approval: required
action:
  command: ["succeeds"]
  inventory: localhost
`;

export const RULES: SimulatedArea = {
  scene: [['local', 'rule.add', { text: RULE }]],
  makers: [[1, (chance) => call('operator', 'job.rerun', { id: some(chance, 'gated') }, keyOf(chance))]],
  picks: {
    /** A job that a rule asked for, and that needed an approval. */
    gated: `jobs where initial_state = 'awaiting_approval' and "trigger" = 'rule'`,
  },
};
