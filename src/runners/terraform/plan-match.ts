import { entriesOf, isObject, listOf, malformed, memberOf } from '../../domain/workspaces/plan-json.ts';
import { type ChangeKey, outputKey, resourceKey } from './plan-file.ts';

/**
 * Throws unless what `terraform show -json` printed has the same resources and outputs, with the same actions, as the
 * plan file. The message quotes no address: a key of `for_each` may be a secret.
 */
export function refuseOtherPlan(shown: unknown, inFile: readonly ChangeKey[]): void {
  const count = new Map<ChangeKey, number>();
  for (const key of inFile) count.set(key, (count.get(key) ?? 0) + 1);
  for (const key of keysOf(shown)) count.set(key, (count.get(key) ?? 0) - 1);
  let [missing, added] = [0, 0];
  for (const rest of count.values()) {
    missing += Math.max(0, rest);
    added += Math.max(0, -rest);
  }
  if (missing + added === 0) return;
  throw new Error(
    `The tool showed another plan than the one in the plan file: ${missing} ` +
      `${missing === 1 ? 'change' : 'changes'} of the file not shown, ${added} shown ` +
      `${added === 1 ? 'change' : 'changes'} not in the file. The plan was not saved.`,
  );
}

function keysOf(shown: unknown): ChangeKey[] {
  const resources = listOf(memberOf(shown, 'resource_changes'), 'resource_changes').map((item) =>
    resourceKey(
      textOf(item, 'address'),
      textOf(item, 'previous_address'),
      textOf(item, 'deposed'),
      actionsOf(memberOf(item, 'change')),
    ),
  );
  return [
    ...resources,
    ...entriesOf(memberOf(shown, 'output_changes'), 'output_changes').map(([name, change]) =>
      outputKey(name, actionsOf(change)),
    ),
  ];
}

function textOf(item: unknown, key: string): string {
  const value = memberOf(item, key) ?? '';
  if (!isObject(item) || typeof value !== 'string') throw malformed(`${key} is not a text`);
  return value;
}

function actionsOf(change: unknown): string {
  const actions = listOf(memberOf(change, 'actions'), 'actions');
  if (!actions.every((each) => typeof each === 'string')) throw malformed('actions are not texts');
  return actions.join(',');
}
