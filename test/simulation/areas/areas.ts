import { ALERTS } from './alerts.ts';
import { APPROVALS } from './approvals.ts';
import { CORDON } from './cordon.ts';
import { EVENTS } from './events.ts';
import { JOBS } from './jobs.ts';
import { LEDGER } from './ledger.ts';
import { MACHINES } from './machines.ts';
import { NOTIFY } from './notify.ts';
import { PLAYBOOKS } from './playbooks.ts';
import { REFUSALS } from './refusals.ts';
import { RULES } from './rules.ts';
import { SCHEDULES } from './schedules.ts';
import { TOKENS } from './tokens.ts';
import { WORKFLOWS } from './workflows.ts';
import { WORKSPACES } from './workspaces.ts';
import type { SimulatedArea } from './area.ts';

export const AREAS: readonly SimulatedArea[] = [
  JOBS,
  APPROVALS,
  WORKFLOWS,
  WORKSPACES,
  PLAYBOOKS,
  SCHEDULES,
  RULES,
  EVENTS,
  NOTIFY,
  CORDON,
  REFUSALS,
  LEDGER,
  MACHINES,
  ALERTS,
  TOKENS,
];
