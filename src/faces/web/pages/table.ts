import { APPROVAL_PAGES } from './approvals.ts';
import { CHECK_PAGES } from './checks.ts';
import { DOCS_PAGES } from './docs.ts';
import { DEVICE_PAGES } from './devices.ts';
import { EVENT_PAGES } from './events.ts';
import { JOB_PAGES } from './jobs/jobs.ts';
import { LIST_PAGES } from './lists.ts';
import { MAINTENANCE_PAGES } from './maintenance.ts';
import { NETGROUPS_PAGE } from './netgroups.ts';
import { OVERVIEW } from './overview.ts';
import type { Page } from '../../console/page.ts';
import { QUIET_PAGES } from './quiet.ts';
import { RULE_PAGES } from './rules.ts';
import { WORKFLOW_PAGES } from './workflows.ts';
import { WORKSPACE_PAGES } from './workspaces.ts';

/** The pages of the console. Within a section the first one without parameters is its entry. */
export const PAGES: readonly Page[] = [
  OVERVIEW,
  ...APPROVAL_PAGES,
  ...JOB_PAGES,
  ...EVENT_PAGES,
  ...RULE_PAGES,
  ...CHECK_PAGES,
  NETGROUPS_PAGE,
  ...WORKSPACE_PAGES,
  ...WORKFLOW_PAGES,
  ...QUIET_PAGES,
  ...LIST_PAGES,
  ...DEVICE_PAGES,
  ...MAINTENANCE_PAGES,
  ...DOCS_PAGES,
];
