/** The pages of each area. Within a section of the navigation pages are in this order, and the first is its entry. */
import type { AreaPages } from '../console/area-pages.ts';
import { ACCESS } from './access/pages.ts';
import { APPROVALS } from './approvals/pages.ts';
import { AUDIT } from './audit/pages.ts';
import { BACKUPS } from './backups/pages.ts';
import { CHECKS } from './checks/pages.ts';
import { DEADMAN } from './deadman/pages.ts';
import { EVENTS } from './events/pages.ts';
import { INVENTORIES } from './inventories/pages.ts';
import { JOBS } from './jobs/pages.ts';
import { MAINTENANCE } from './maintenance/pages.ts';
import { NETGROUPS } from './netgroups/pages.ts';
import { NOTIFY } from './notify/pages.ts';
import { PLAYBOOKS } from './playbooks/pages.ts';
import { RULES } from './rules/pages.ts';
import { SCHEDULES } from './schedules/pages.ts';
import { SECRETS } from './secrets/pages.ts';
import { SERVICE } from './service/pages.ts';
import { SOURCES } from './sources/pages.ts';
import { WORKFLOWS } from './workflows/pages.ts';
import { WORKSPACES } from './workspaces/pages.ts';

export const AREA_PAGES: readonly AreaPages[] = [
  APPROVALS,
  JOBS,
  PLAYBOOKS,
  EVENTS,
  DEADMAN,
  RULES,
  CHECKS,
  NETGROUPS,
  WORKSPACES,
  WORKFLOWS,
  SOURCES,
  INVENTORIES,
  SCHEDULES,
  SECRETS,
  BACKUPS,
  SERVICE,
  ACCESS,
  AUDIT,
  NOTIFY,
  MAINTENANCE,
];
