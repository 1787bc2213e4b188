import type { OperationArea } from '../area.ts';

export const SOURCES: OperationArea = {
  nouns: {
    source: {
      summary: 'Manage the Git repositories and directories that runs use',
      place: 270,
      help: ['infrastructure', 1],
    },
    hooks: { summary: 'Show the lifecycle hooks that a source declares', place: 290, help: ['infrastructure', 3] },
  },
  load: async () => (await import('./sources.ts')).SOURCE_OPERATIONS,
  audited: {
    'source.add': ['kind', 'plugins', 'approve_runs', 'except_check'],
    'source.update': ['approve_runs', 'except_check'],
    'source.keep': ['device', 'inode', 'owner'],
    'source.sync': ['commit'],
  },
  sections: { sources: { place: 20, load: async () => (await import('./configuration.ts')).sourcesSection } },
};
