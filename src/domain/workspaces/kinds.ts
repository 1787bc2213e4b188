import type { KindFacts } from '../jobs/kind.ts';
import type { WorkspaceKind, WorkspaceSpec } from './workspace.ts';

const SHARED = {
  readSpec: (json: string) => JSON.parse(json) as WorkspaceSpec,
  stop: 'leader-first',
  startsAtOnce: false,
  oneTap: 'never',
  makesPlan: false,
  destroysAll: false,
} as const;

/** The kinds of jobs that work on a workspace. */
export const WORKSPACE_ROWS = {
  plan: {
    ...SHARED,
    runbook: ({ workspace }) => `plan:${workspace}`,
    words: { title: (of) => `Plan ${of}`, short: 'plan' },
    makesPlan: true,
  },
  apply: {
    ...SHARED,
    runbook: ({ workspace }) => `apply:${workspace}`,
    words: {
      title: (of, planned) => (planned ? `Apply plan to ${of}` : `Apply ${of} without a saved plan`),
      short: 'apply',
    },
    oneTap: 'by-plan',
  },
  destroy: {
    ...SHARED,
    runbook: ({ workspace }) => `destroy:${workspace}`,
    words: { title: (of) => `Destroy everything in ${of}`, short: 'destroy' },
    destroysAll: true,
  },
  drift: {
    ...SHARED,
    runbook: ({ workspace }) => `drift:${workspace}`,
    words: { title: (of) => `Check drift of ${of}`, short: 'drift run' },
  },
} as const satisfies Record<WorkspaceKind, KindFacts<WorkspaceSpec>>;
