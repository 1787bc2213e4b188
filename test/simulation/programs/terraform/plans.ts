/** Plans and states as the simulated terraform writes them, in the forms of the real one. */
import { createHash } from 'node:crypto';
import { field, planMessage, resource, zipOf } from '../../../support/attacks/plan-bytes.ts';

export type Change = 'create' | 'update' | 'delete';

export interface Planned {
  /** Of the state that it was made from; lineage is empty where there was none. */
  readonly serial: number;
  readonly lineage: string;
  readonly changes: Readonly<Record<string, Change>>;
  /** Tells it from every other plan. */
  readonly mark: string;
}

export interface Content {
  readonly serial: number;
  readonly lineage: string;
  /** How often each resource was changed. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Numbers of planfile.proto. */
const ACTIONS: Readonly<Record<Change, number>> = { create: 1, update: 3, delete: 5 };
/** A field that no reader knows. */
const MARK = 1_000;

const addressOf = (name: string): string => `test_thing.${name}`;

export function planBytes({ serial, lineage, changes, mark }: Planned): Buffer {
  const resources = Object.entries(changes).map(([name, change]) =>
    resource({ address: addressOf(name), action: ACTIONS[change] }),
  );
  return zipOf([
    ['tfplan', planMessage(...resources, field(MARK, mark))],
    ['tfstate', Buffer.from(JSON.stringify({ serial, lineage }))],
  ]);
}

/** As `terraform show -json` prints it. */
export function planJson({ changes }: Planned): string {
  const resourceChanges = Object.entries(changes).map(([name, change]) => ({
    address: addressOf(name),
    mode: 'managed',
    type: 'test_thing',
    name,
    change: {
      actions: [change],
      before: change === 'create' ? null : { name },
      after: change === 'delete' ? null : { name },
      after_unknown: {},
      before_sensitive: {},
      after_sensitive: {},
    },
  }));
  return `${JSON.stringify({ format_version: '1.2', resource_changes: resourceChanges })}\n`;
}

export function stateBytes({ serial, lineage, resources }: Content): Buffer {
  const list = Object.entries(resources).map(([name, changed]) => ({
    mode: 'managed',
    type: 'test_thing',
    name,
    instances: [{ attributes: { name, changed } }],
  }));
  const state = { version: 4, terraform_version: '1.9.0', serial, lineage, resources: list };
  return Buffer.from(`${JSON.stringify(state, null, 2)}\n`);
}

/** Null for what is no whole state. */
export function readContent(bytes: Buffer): Content | null {
  try {
    const { serial, lineage, resources } = JSON.parse(bytes.toString()) as {
      serial: number;
      lineage: string;
      resources: readonly { name: string; instances: readonly { attributes: { changed: number } }[] }[];
    };
    const counts = resources.map(({ name, instances }) => [name, instances[0]?.attributes.changed ?? 0] as const);
    return { serial, lineage, resources: Object.fromEntries(counts) };
  } catch {
    return null;
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
