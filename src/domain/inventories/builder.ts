import { hostNames, tooManyHosts } from './host-name.ts';
import { ALL, type Inventory, INVENTORY_LIMITS, UNGROUPED, type VarValue } from './inventory.ts';
import { writeValue } from './model-json.ts';
import { quoted, refusedAt } from './refused.ts';
import { priority, PRIORITY, variable } from './variables.ts';

interface Group {
  readonly hosts: Set<string>;
  /** Child to the line that says so. */
  readonly children: Map<string, number>;
  readonly vars: Map<string, VarValue>;
  priority: number;
  readonly line: number;
}

const GROUP_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** Characters that stand between names and values in a stored inventory, for the bound. */
const OVERHEAD_BYTES = 6;

/** Collects and checks what a file says, in its order. Every method throws invalid_argument that names the line. */
export class InventoryBuilder {
  readonly #hosts = new Map<string, Map<string, VarValue>>();
  readonly #groups = new Map<string, Group>();
  #members = 0;
  #bytes = 0;

  constructor() {
    this.group(ALL, 1);
    this.group(UNGROUPED, 1);
  }

  has(group: string): boolean {
    return this.#groups.has(group);
  }

  /** Adds the group, unless it is there. */
  group(name: string, line: number): void {
    if (this.#groups.has(name)) return;
    if (!GROUP_NAME.test(name))
      throw refusedAt(
        line,
        `${quoted(name)} is not a group name; expected at most 128 letters, digits and _ - ., the first a letter ` +
          'or a digit',
      );
    if (this.#groups.size >= INVENTORY_LIMITS.groups)
      throw refusedAt(line, `expected at most ${INVENTORY_LIMITS.groups} groups`);
    this.#groups.set(name, { hosts: new Set(), children: new Map(), vars: new Map(), priority: 1, line });
  }

  /** Adds the hosts that `pattern` names to the group, and answers their names. */
  hosts(group: string, pattern: string, line: number): readonly string[] {
    const { names, port } = hostNames(pattern, line);
    for (const name of names) {
      const isNew = !this.#hosts.has(name);
      if (isNew && this.#hosts.size >= INVENTORY_LIMITS.hosts) throw tooManyHosts(line);
      if (isNew) this.#hosts.set(name, new Map());
      if (port !== null) this.#port(name, port, isNew, line);
      const { hosts } = this.#groupOf(group);
      if (!hosts.has(name)) this.#countMember(line);
      hosts.add(name);
    }
    return names;
  }

  /** Ansible takes the port of the first line only: another one later would be lost without a word. */
  #port(host: string, port: string, isNew: boolean, line: number): void {
    const own = this.#hosts.get(host) ?? new Map<string, VarValue>();
    const value = variable('ansible_port', { number: String(Number(port)) }, line);
    const before = own.get('ansible_port');
    if (isNew) this.#set(own, 'ansible_port', value);
    else if (before === undefined || writeValue(before) !== writeValue(value))
      throw refusedAt(line, `host ${quoted(host)} was named before with another port, or without one`);
  }

  hostVariable(hosts: readonly string[], name: string, value: VarValue, line: number): void {
    if (name === PRIORITY) throw refusedAt(line, `variable ${PRIORITY} is of groups only`);
    const checked = variable(name, value, line);
    for (const host of hosts) {
      const own = this.#hosts.get(host);
      if (own !== undefined) this.#set(own, name, checked, line);
    }
  }

  groupVariable(group: string, name: string, value: VarValue, line: number): void {
    const { vars } = this.#groupOf(group);
    if (name === PRIORITY) this.#groupOf(group).priority = priority(value, line);
    else this.#set(vars, name, variable(name, value, line), line);
  }

  #set(vars: Map<string, VarValue>, name: string, value: VarValue, line = 1): void {
    this.#bytes += Buffer.byteLength(name) + Buffer.byteLength(writeValue(value)) + OVERHEAD_BYTES;
    if (this.#bytes > INVENTORY_LIMITS.variableBytes)
      throw refusedAt(line, `the variables of all hosts have more than ${INVENTORY_LIMITS.variableBytes} bytes`);
    vars.set(name, value);
  }

  child(parent: string, child: string, line: number): void {
    if (child === ALL) throw refusedAt(line, 'the group all is in no other group');
    if (child === parent) throw refusedAt(line, `the group ${quoted(child)} cannot be in itself`);
    const { children } = this.#groupOf(parent);
    if (!children.has(child)) this.#countMember(line);
    children.set(child, line);
  }

  #countMember(line: number): void {
    this.#members += 1;
    if (this.#members > INVENTORY_LIMITS.members)
      throw refusedAt(line, `expected at most ${INVENTORY_LIMITS.members} members of groups`);
  }

  #groupOf(name: string): Group {
    const group = this.#groups.get(name);
    if (group === undefined) throw new Error(`The group ${name} was not added.`);
    return group;
  }

  finish(): Inventory {
    if (this.#hosts.size === 0) throw refusedAt(1, 'the inventory has no host');
    for (const [name, { line }] of this.#groups)
      if (this.#hosts.has(name))
        throw refusedAt(line, `${quoted(name)} is a host and a group; a limit could not tell which is meant`);
    this.#refuseCircles();
    this.#sortUngrouped();
    const hosts = new Map([...this.#hosts].map(([name, vars]) => [name, vars]));
    const groups = new Map(
      [...this.#groups].map(([name, group]) => [
        name,
        { hosts: [...group.hosts], children: [...group.children.keys()], vars: group.vars, priority: group.priority },
      ]),
    );
    return { hosts, groups };
  }

  /** `ungrouped` has the hosts that are in no group but `all`, and no others. */
  #sortUngrouped(): void {
    const ungrouped = this.#groupOf(UNGROUPED);
    const grouped = new Set<string>();
    for (const [name, { hosts }] of this.#groups)
      if (name !== ALL && name !== UNGROUPED) for (const host of hosts) grouped.add(host);
    for (const host of ungrouped.hosts) if (grouped.has(host)) ungrouped.hosts.delete(host);
    for (const host of this.#hosts.keys()) if (!grouped.has(host)) ungrouped.hosts.add(host);
  }

  #refuseCircles(): void {
    const state = new Map<string, 'open' | 'done'>();
    const visit = (name: string): void => {
      state.set(name, 'open');
      for (const [child, line] of this.#groupOf(name).children) {
        const seen = state.get(child);
        if (seen === 'open') throw refusedAt(line, `the group ${quoted(child)} is, through its groups, in itself`);
        if (seen === undefined) visit(child);
      }
      state.set(name, 'done');
    };
    for (const name of this.#groups.keys()) if (!state.has(name)) visit(name);
  }
}
