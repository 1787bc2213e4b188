import type { OperationArea } from '../area.ts';

export const NETGROUPS: OperationArea = {
  nouns: {
    netgroup: { summary: 'Name sets of networks, to tell where events come from', place: 210, help: ['watch', 1] },
  },
  load: async () => (await import('./netgroups.ts')).NETGROUP_OPERATIONS,
  audited: { 'netgroup.add': ['prefixes', 'excludes'], 'netgroup.set': ['prefixes', 'excludes'] },
  sections: { netgroups: { place: 10, load: async () => (await import('./configuration.ts')).netgroupsSection } },
};
