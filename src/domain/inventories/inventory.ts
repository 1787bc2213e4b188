/** In place of a secret: the hosts are reached with the keys of the agent that the operator of the daemon names. */
export const SSH_AGENT = 'agent';

/** The inventory that always exists: this machine, without Ansible. */
export const LOCALHOST = 'localhost';

/** Groups that every inventory has: all hosts, and those in no other group. */
export const ALL = 'all';
export const UNGROUPED = 'ungrouped';

export const INVENTORY_LIMITS = {
  /** Bytes of a file: 10,000 hosts with three variables each have 0.9 MB as YAML. */
  fileBytes: 2 * 1024 * 1024,
  hosts: 10_000,
  groups: 1_000,
  /** Hosts of groups and children of groups, all counted: each is a step of the search for the hosts of a group. */
  members: 100_000,
  /** Names and values of all variables. A range repeats those of its line for each of its hosts. */
  variableBytes: 4 * 1024 * 1024,
} as const;

/** The value of a variable. A number keeps its text, so that `1.0` stays one, and no large number is rounded. */
export type VarValue = string | boolean | null | VarNumber | VarMap | readonly VarValue[];

/** Its text is a number of JSON. */
export interface VarNumber {
  readonly number: string;
}

interface VarMap {
  readonly fields: ReadonlyMap<string, VarValue>;
}

export type Vars = ReadonlyMap<string, VarValue>;

interface InventoryGroup {
  /** Those that are named in the group itself. */
  readonly hosts: readonly string[];
  readonly children: readonly string[];
  readonly vars: Vars;
  /** `ansible_group_priority`: of groups of the same depth, a higher one wins. */
  readonly priority: number;
}

/**
 * What is read of an inventory file, in the order of the file. `groups` has `all` and `ungrouped` too. Nothing in it
 * runs: no value is a template, and no variable names a program or arguments of this machine.
 */
export interface Inventory {
  readonly hosts: ReadonlyMap<string, Vars>;
  readonly groups: ReadonlyMap<string, InventoryGroup>;
}

/** The inventory `localhost` as one that is stored. */
export const LOCALHOST_INVENTORY: Inventory = {
  hosts: new Map([[LOCALHOST, new Map([['ansible_connection', 'local']])]]),
  groups: new Map([
    [ALL, { hosts: [], children: [], vars: new Map(), priority: 1 }],
    [UNGROUPED, { hosts: [LOCALHOST], children: [], vars: new Map(), priority: 1 }],
  ]),
};

export function isNumber(value: VarValue): value is VarNumber {
  return typeof value === 'object' && value !== null && 'number' in value;
}

export function isMap(value: VarValue): value is VarMap {
  return typeof value === 'object' && value !== null && 'fields' in value;
}
