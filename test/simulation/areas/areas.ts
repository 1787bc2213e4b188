import { ALERTS } from './alerts.ts';
import { APPROVALS } from './approvals.ts';
import { BACKUPS } from '../backups/area.ts';
import { CHANGES } from './changes.ts';
import { CHECKS } from './checks.ts';
import { EVENTS } from './events.ts';
import { JOBS } from './jobs.ts';
import { LEDGER } from './ledger.ts';
import { MACHINES } from './machines.ts';
import { NOTIFY } from './notify.ts';
import { SOURCES } from './files/sources.ts';
import { LINKS } from './people/links.ts';
import { SESSIONS } from './people/sessions.ts';
import { PLAYBOOKS } from './playbooks.ts';
import { REFUSALS } from './refusals.ts';
import { CORDON, RESTARTS } from './maintenance.ts';
import { RULES } from './rules.ts';
import { SCHEDULES } from './schedules.ts';
import { TOKENS } from './tokens.ts';
import { WORKFLOWS } from './workflows.ts';
import { WORKSPACES } from './workspaces.ts';
import type { SimulatedArea } from './area.ts';

/** By their names. */
export const AREAS_BY_NAME: ReadonlyMap<string, SimulatedArea> = new Map(
  Object.entries({
    jobs: JOBS,
    backups: BACKUPS,
    approvals: APPROVALS,
    workflows: WORKFLOWS,
    workspaces: WORKSPACES,
    playbooks: PLAYBOOKS,
    schedules: SCHEDULES,
    rules: RULES,
    events: EVENTS,
    notify: NOTIFY,
    cordon: CORDON,
    refusals: REFUSALS,
    ledger: LEDGER,
    machines: MACHINES,
    alerts: ALERTS,
    tokens: TOKENS,
    checks: CHECKS,
    configuration: CHANGES,
    restarts: RESTARTS,
    links: LINKS,
    sessions: SESSIONS,
    sources: SOURCES,
  }),
);

export const AREAS: readonly SimulatedArea[] = [...AREAS_BY_NAME.values()];

/** Those that each world has, and those with these names. */
export function areasOf(names: readonly string[]): readonly SimulatedArea[] {
  return [...AREAS_BY_NAME].flatMap(([name, area]) =>
    area.rarity === undefined || names.includes(name) ? [area] : [],
  );
}
