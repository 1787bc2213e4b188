import type { OperationArea } from '../area.ts';

export const WORKSPACES: OperationArea = {
  nouns: { workspace: { summary: 'Plan, apply and destroy infrastructure', place: 60, help: ['infrastructure', 0] } },
  load: async () => [
    ...(await import('./workspaces.ts')).WORKSPACE_OPERATIONS,
    ...(await import('./workspace-export.ts')).WORKSPACE_EXPORT_OPERATIONS,
    ...(await import('./workspace-restore.ts')).WORKSPACE_RESTORE_OPERATIONS,
    ...(await import('./workspace-plans.ts')).WORKSPACE_PLAN_OPERATIONS,
    ...(await import('./workspace-runs.ts')).WORKSPACE_RUN_OPERATIONS,
  ],
  audited: {
    'artifact.seal': ['job_id', 'workspace', 'serial', 'digest', 'verdict', 'destroys', 'changes', 'creates'],
    'workspace.add': ['source', 'require_saved_plan', 'protect_destroy', 'unprotected'],
    'workspace.apply': ['workspace', 'plan', 'ungated'],
    'workspace.destroy': ['workspace', 'ungated'],
    'workspace.drift': ['workspace'],
    'workspace.export': ['version', 'begins'],
    'workspace.keep': ['device', 'inode', 'owner'],
    'workspace.plan': ['workspace'],
    'workspace.remove': ['force'],
    'workspace.restore': ['version', 'from_version', 'serial', 'force'],
    'workspace.update': ['changed'],
  },
  sections: { workspaces: { place: 50, load: async () => (await import('./configuration.ts')).workspacesSection } },
};
