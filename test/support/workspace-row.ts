import type { NewWorkspace } from '../../src/store/workspaces.ts';

/** A workspace that has no source and no policy. */
export function workspaceRow(name = 'net', some: Partial<NewWorkspace> = {}): NewWorkspace {
  return {
    name,
    source: null,
    path: '/srv/net',
    approve_when: null,
    deny_when: null,
    require_saved_plan: 0,
    protect_destroy: 0,
    ...some,
  };
}
