import type { OperationArea } from '../area.ts';

export const RULES: OperationArea = {
  nouns: {
    rule: { summary: 'Manage the rules that react to events', place: 160, help: ['react', 1] },
    silence: { summary: 'Silence rules for a limited time', place: 170, help: ['silence', 0] },
    mute: { summary: 'Mute notifications for a limited time; jobs still run', place: 180, help: ['silence', 1] },
  },
  load: async () => [
    ...(await import('./rules.ts')).RULE_OPERATIONS,
    ...(await import('./silences.ts')).SILENCE_OPERATIONS,
    ...(await import('./mutes.ts')).MUTE_OPERATIONS,
  ],
  audited: {
    'mute.add': ['scope_kind'],
    'rule.add': ['action', 'replace', 'enabled', 'privileged', 'writable'],
    'rule.remove': ['ended_silences'],
    'rule.fire': ['event_id', 'rule', 'approval_id', 'ungated'],
    'silence.add': ['rule'],
  },
  sections: { rules: { place: 80, load: async () => (await import('./configuration.ts')).rulesSection } },
};
