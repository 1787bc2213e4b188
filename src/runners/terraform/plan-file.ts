import type { Tool } from './tool.ts';
import { pick } from './protobuf.ts';
import { readZipEntry, sizeOfZipEntry } from './zip-entry.ts';

/**
 * What a plan file says that it would do, read from the file itself: the addresses and actions of its resources and
 * outputs. What `terraform show` prints of the file is compared with this. Numbers are those of `planfile.proto`, which
 * Terraform (from 1.1 on) and OpenTofu share.
 */

/** The entry with the plan. Of 23,000 resources with 1 kB of attributes it has some 60 MB. */
const PLAN_ENTRY = 'tfplan';
const PLAN_ENTRY_MAX_BYTES = 256 * 1024 * 1024;
const FORMAT_VERSION = 3;

const PLAN = { version: 1, resourceChanges: 3, outputChanges: 4 } as const;
/** Names of the ephemeral variables that were set: `apply_time_variables`, and `ephemeral_variables` of OpenTofu. */
const APPLY_VARIABLES: Readonly<Record<Tool['name'], number>> = { terraform: 28, tofu: 22 };
const RESOURCE = { deposed: 7, change: 9, address: 13, previousAddress: 14 } as const;
const OUTPUT = { name: 1, change: 2 } as const;
const CHANGE = { action: 1 } as const;

const DELETE = 5;
/** Number of an action to its words in the JSON form. The two tools gave 9 different meanings. */
const ACTIONS: Readonly<Record<number, string>> = {
  0: 'no-op',
  1: 'create',
  2: 'read',
  3: 'update',
  [DELETE]: 'delete',
  6: 'delete,create',
  7: 'create,delete',
  8: 'forget',
};
const ACTIONS_OF_TOOL: Readonly<Record<Tool['name'], Readonly<Record<number, string>>>> = {
  terraform: { 9: 'create,forget' },
  tofu: { 9: 'open', 10: 'forget,create' },
};

/** A data resource: `data.` after any number of modules, whose keys may hold anything. */
const DATA_ADDRESS = /^(?:module\.[^.["]+(?:\[(?:-?\d+|"(?:[^"\\]|\\.)*")\])?\.)*data\./s;

/** One thing that a plan would do, as a text to compare. */
export type ChangeKey = string;

export function resourceKey(address: string, previousAddress: string, deposed: string, actions: string): ChangeKey {
  return JSON.stringify(['resource', address, previousAddress === address ? '' : previousAddress, deposed, actions]);
}

export function outputKey(name: string, actions: string): ChangeKey {
  return JSON.stringify(['output', name, actions]);
}

/** A plan file, and the tool that made it. */
export interface PlanFile {
  readonly bytes: Buffer;
  readonly tool: Tool['name'];
}

/** What is read of it. */
interface PlanFileContent {
  readonly changes: readonly ChangeKey[];
  /** Names of variables whose values are not in it: its apply needs them again. */
  readonly applyVariables: readonly string[];
}

/** Rejects with an Error that quotes nothing of the plan if the file is not a plan of a known form. */
export async function readPlanFile({ bytes, tool }: PlanFile): Promise<PlanFileContent> {
  try {
    return contentOf(await readZipEntry(bytes, PLAN_ENTRY, PLAN_ENTRY_MAX_BYTES), tool);
  } catch (error) {
    throw unreadable(error);
  }
}

/** How much readPlanFile has to go through, in bytes. Throws as that rejects. */
export function sizeOfPlan({ bytes }: PlanFile): number {
  try {
    return sizeOfZipEntry(bytes, PLAN_ENTRY);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): Error {
  return new Error(`The plan file could not be read: ${error instanceof Error ? error.message : 'unknown error'}.`, {
    cause: error,
  });
}

function contentOf(message: Buffer, tool: Tool['name']): PlanFileContent {
  const actions = { ...ACTIONS, ...ACTIONS_OF_TOOL[tool] };
  const variables = APPLY_VARIABLES[tool];
  const wanted: Readonly<Record<number, 'number' | 'bytes'>> = {
    [PLAN.version]: 'number',
    [PLAN.resourceChanges]: 'bytes',
    [PLAN.outputChanges]: 'bytes',
    [variables]: 'bytes',
  };
  const plan = pick(message, wanted, [PLAN.resourceChanges, PLAN.outputChanges, variables]);
  if (plan.get(PLAN.version)?.[0] !== FORMAT_VERSION) throw new Error(`it is not of format ${FORMAT_VERSION}`);
  const resources = messages(plan, PLAN.resourceChanges).flatMap((each) => resourceOf(each, actions));
  return {
    changes: [...resources, ...messages(plan, PLAN.outputChanges).map((each) => outputOf(each, actions))],
    applyVariables: messages(plan, variables).map((name) => UTF_8.decode(name)),
  };
}

type Picked = ReturnType<typeof pick>;

function messages(from: Picked, number: number): Buffer[] {
  return (from.get(number) ?? []).filter((value) => Buffer.isBuffer(value));
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Texts are UTF-8 to every reader, or the message is damaged. */
function textOf(from: Picked, number: number): string {
  return UTF_8.decode(messages(from, number)[0]);
}

/** Terraform plans to delete data that nothing reads any more, and does not show this. */
function resourceOf(message: Buffer, actions: Readonly<Record<number, string>>): ChangeKey[] {
  const picked = pick(message, {
    [RESOURCE.deposed]: 'bytes',
    [RESOURCE.change]: 'bytes',
    [RESOURCE.address]: 'bytes',
    [RESOURCE.previousAddress]: 'bytes',
  });
  const address = textOf(picked, RESOURCE.address);
  if (address === '') throw new Error('a resource in it has no address');
  const action = actionOf(picked, RESOURCE.change);
  if (action === DELETE && DATA_ADDRESS.test(address)) return [];
  return [
    resourceKey(
      address,
      textOf(picked, RESOURCE.previousAddress),
      textOf(picked, RESOURCE.deposed),
      wordsOf(action, actions),
    ),
  ];
}

function outputOf(message: Buffer, actions: Readonly<Record<number, string>>): ChangeKey {
  const picked = pick(message, { [OUTPUT.name]: 'bytes', [OUTPUT.change]: 'bytes' });
  return outputKey(textOf(picked, OUTPUT.name), wordsOf(actionOf(picked, OUTPUT.change), actions));
}

/** What is left out is zero. */
function actionOf(picked: Picked, number: number): number {
  const change = messages(picked, number)[0];
  const action = change === undefined ? 0 : (pick(change, { [CHANGE.action]: 'number' }).get(CHANGE.action)?.[0] ?? 0);
  return Number(action);
}

function wordsOf(action: number, actions: Readonly<Record<number, string>>): string {
  const words = actions[action];
  if (words === undefined) throw new Error(`it has an action ${action}, which is not known`);
  return words;
}
