import { ACCESS } from './access/area.ts';
import { APPROVALS } from './approvals/area.ts';
import type { AllAreas, OperationArea } from './area.ts';
import { AUDIT } from './audit/area.ts';
import { BACKUPS } from './backups/area.ts';
import { CHECKS } from './checks/area.ts';
import { COMMANDS } from './commands/area.ts';
import { CONFIGURATION } from './configuration/area.ts';
import { DEADMAN } from './deadman/area.ts';
import { EVENTS } from './events/area.ts';
import { GATE } from './gate/area.ts';
import { HOSTS } from './hosts/area.ts';
import { INVENTORIES } from './inventories/area.ts';
import { JOBS } from './jobs/area.ts';
import { MAINTENANCE } from './maintenance/area.ts';
import { NETGROUPS } from './netgroups/area.ts';
import { NOTIFY } from './notify/area.ts';
import { PLAYBOOKS } from './playbooks/area.ts';
import { RULES } from './rules/area.ts';
import { SCHEDULES } from './schedules/area.ts';
import { SECRETS } from './secrets/area.ts';
import { SERVICE } from './service/area.ts';
import { SOURCES } from './sources/area.ts';
import { VENDOR } from './vendor/area.ts';
import { WEBHOOKS } from './webhooks/area.ts';
import { WORKFLOWS } from './workflows/area.ts';
import { WORKSPACES } from './workspaces/area.ts';
import type { Operation } from './core/operation.ts';
import type { ConfigSections } from './core/sections/section.ts';

/** The areas of the table of operations, in its order. */
export const AREAS: readonly OperationArea[] = [
  SERVICE,
  JOBS,
  APPROVALS,
  GATE,
  WORKSPACES,
  SOURCES,
  VENDOR,
  INVENTORIES,
  COMMANDS,
  PLAYBOOKS,
  BACKUPS,
  WORKFLOWS,
  EVENTS,
  RULES,
  WEBHOOKS,
  CHECKS,
  NETGROUPS,
  SCHEDULES,
  HOSTS,
  NOTIFY,
  DEADMAN,
  CONFIGURATION,
  SECRETS,
  AUDIT,
  MAINTENANCE,
  ACCESS,
];

const SECTIONS = AREAS.flatMap(({ sections = {} }) => Object.entries(sections)).toSorted(
  ([, one], [, other]) => one.place - other.place,
);

/** The names of the sections of a configuration file, in the order of changes. */
export const SECTION_NAMES: readonly string[] = SECTIONS.map(([name]) => name);

const ALL: AllAreas = {
  loadAll,
  loadOperation,
  loadSections,
  audited: Object.fromEntries(AREAS.flatMap(({ audited = {} }) => Object.entries(audited))),
};

/** The rows of all areas. */
export async function loadAll(): Promise<readonly Operation[]> {
  return (await Promise.all(AREAS.map((area) => area.load(ALL)))).flat();
}

/** The operation of this id, without the areas that it is not in. Throws for an unknown id. */
export async function loadOperation(id: string): Promise<Operation> {
  const [noun = ''] = id.split('.');
  const own = AREAS.find(({ ids = [] }) => ids.includes(id)) ?? AREAS.find(({ nouns }) => Object.hasOwn(nouns, noun));
  const operation = (await own?.load(ALL))?.find((row) => row.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  return operation;
}

/** The sections of a configuration file, of all areas. */
export async function loadSections(): Promise<ConfigSections> {
  return new Map(await Promise.all(SECTIONS.map(async ([name, { load }]) => [name, await load()] as const)));
}
