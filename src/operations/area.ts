import type { Operation } from './core/operation.ts';
import type { ConfigSection, ConfigSections } from './core/sections/section.ts';

/** What is made of all areas, for the operations that need it. */
export interface AllAreas {
  readonly loadAll: () => Promise<readonly Operation[]>;
  /** Throws for an unknown id. */
  readonly loadOperation: (id: string) => Promise<Operation>;
  readonly loadSections: () => Promise<ConfigSections>;
  /** See `OperationArea`, of all areas. */
  readonly audited: Audited;
}

/**
 * What a list of the ledger shows of a record's detail, by its operation: ids, states, names and counts. An operation
 * that is not here shows none of it, and neither does a field.
 */
export type Audited = Readonly<Record<string, readonly string[]>>;

/** The groups of the help overview, in its order. */
export const HELP_GROUPS = {
  daemon: 'Run the daemon, or its API and pages',
  service: 'Check, upgrade and list the daemons',
  follow: 'Follow, approve jobs; prepare a reboot',
  run: 'Run commands, playbooks, several steps',
  infrastructure: 'Plan, apply and destroy infrastructure',
  hosts: 'Manage the hosts that jobs reach',
  react: 'Start jobs by events, at regular times',
  watch: 'Watch targets; name their networks',
  silence: 'Silence rules; mute and send messages',
  secure: 'Secrets, keys, tokens, ledger, gate',
  configure: 'Keep rules, checks and more in a file',
  backup: 'Back up the store, verify and restore',
  context: 'Name the servers that svc is used with',
  describe: 'Describe svc and complete its words',
} as const;

/** A first word of commands. */
export interface Noun {
  readonly summary: string;
  /** Its place among all nouns, in steps of ten: in the manual page, the list of commands and completion. */
  readonly place: number;
  /** Its group in the help overview, and its place there. */
  readonly help: readonly [group: keyof typeof HELP_GROUPS, place: number];
}

/** A section of a configuration file: a list of objects of the area. */
interface Section {
  /**
   * Its place among all sections, in steps of ten: what comes later may name what comes earlier. Changes are made in
   * this order, and objects are removed in the reverse order.
   */
  readonly place: number;
  readonly load: () => Promise<ConfigSection>;
}

/** What an area brings to the table of operations. It loads nothing: a verb on the machine needs one area only. */
export interface OperationArea {
  readonly nouns: Readonly<Record<string, Noun>>;
  /** Ids of its operations that begin with a noun of another area, or with none. */
  readonly ids?: readonly string[];
  readonly load: (all: AllAreas) => Promise<readonly Operation[]>;
  readonly audited?: Audited;
  /** By name. */
  readonly sections?: Readonly<Record<string, Section>>;
}
