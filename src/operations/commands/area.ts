import type { OperationArea } from '../area.ts';

export const COMMANDS: OperationArea = {
  nouns: { command: { summary: 'Run an ad-hoc command as a job', place: 80, help: ['run', 0] } },
  ids: ['job.command', 'job.result'],
  load: async () => (await import('./commands.ts')).COMMAND_OPERATIONS,
  audited: { 'command.run': ['inventory', 'limit', 'hosts', 'host_count', 'privileged', 'writable'] },
};
