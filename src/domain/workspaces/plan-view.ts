import { standingOf, type Standing, summaryOf } from './plan-actions.ts';
import { entriesOf, isObject, type JsonObject, leafText, listOf, malformed, memberOf } from './plan-json.ts';
import { type Attribute, attributesOf, shownAddress } from './plan-resource.ts';
import { eachMaskedOfChange, findSecrets, type Hides } from './plan-secrets.ts';
import { type Hidden, valueText } from './plan-values.ts';
import type { PlanEntry, PlannedChanges, ReadPlan } from './plan.ts';

export interface PlanViewOptions {
  readonly artifactId: string;
  /** The values of the run's secrets. */
  readonly secrets: readonly Buffer[];
  /** Names of variables whose values came from secrets of the run, whether the configuration marks them or not. */
  readonly secretVariables?: readonly string[];
}

/**
 * Turns the parsed output of `terraform show -json` into the stored view of the plan.
 *
 * Entries are in terraform's order, replacements after final destroys. An entry has the attributes that differ, sorted
 * by name. A value known only after the apply is shown, but is not a change by itself: an update is listed because
 * terraform says update. Attributes in parentheses are facts that no attribute shows: `(address)` of a resource that
 * also moves, `(import)`, `(state)` of a forgotten one, `(action)` of an unknown action. A resource that only moves, or
 * is imported unchanged, is a no-op without an entry; the summary counts it. `line_count` is the number of lines of a
 * rendering: one for each entry and each attribute.
 *
 * `planned` is for policy only and has the full addresses: a rule about an address must not miss it because a part of
 * it is hidden from people. Throws an Error that quotes no value if the input is not a plan.
 */
export function viewOf(json: unknown, { artifactId, secrets, secretVariables = [] }: PlanViewOptions): ReadPlan {
  if (!isObject(json)) throw malformed('it is not an object');
  const format = json['format_version'];
  if (typeof format !== 'string' || !/^1\.\d+$/.test(format)) throw malformed('its format_version is not 1.x');
  const hides = findSecrets(json, secrets, secretVariables);
  const lists = { destroys: emptyList(), replaces: emptyList(), changes: emptyList(), creates: emptyList() };
  const noted = {
    outputs: countOutputs(json),
    moved: 0,
    imported: 0,
    deferred: listOf(json['deferred_changes'], 'deferred_changes').length,
  };
  let attributeCount = 0;
  const list = (
    to: keyof PlannedChanges,
    entry: PlanEntry,
    address: string,
    attributes: readonly Attribute[],
  ): void => {
    // Final destroys come before replacements.
    const into = lists[entry.action === 'replace' ? 'replaces' : to];
    into.entries.push(entry);
    into.texts.push(JSON.stringify({ ...entry, address, attributes }));
    attributeCount += attributes.length;
  };
  for (const [i, item] of listOf(json['resource_changes'], 'resource_changes').entries()) {
    const resource = resourceOf(item, `resource_changes[${i}]`);
    if (resource.mode === 'data' || resource.mode === 'ephemeral') continue;
    const standing = standingOf(resource.actions);
    if (standing === null) {
      if (resource.movedFrom !== null) noted.moved += 1;
      if (resource.importing !== null) noted.imported += 1;
      continue;
    }
    const { address, type, name } = resource;
    const deposed = resource.deposed === null ? '' : ` (deposed object ${resource.deposed})`;
    const attributes = attributesShown(resource, standing, hides);
    const shown = `${shownAddress(address, hides)}${deposed}`;
    list(standing.list, { address, type, name, action: standing.action }, shown, attributes);
  }
  for (const [i, item] of listOf(json['action_invocations'], 'action_invocations').entries()) {
    const { address, type, name } = namesOf(item, `action_invocations[${i}]`);
    list('changes', { address, type, name, action: 'update' }, shownAddress(address, hides), [
      { name: '(action)', before: '', after: 'invoked' },
    ]);
  }
  const destroyed = [...lists.destroys.texts, ...lists.replaces.texts];
  const planned = {
    destroys: [...lists.destroys.entries, ...lists.replaces.entries],
    changes: lists.changes.entries,
    creates: lists.creates.entries,
  };
  const entryCount = planned.destroys.length + planned.changes.length + planned.creates.length;
  const summary = summaryOf(planned, noted);
  const view =
    `{"destroys":[${destroyed.join(',')}],"changes":[${lists.changes.texts.join(',')}],` +
    `"creates":[${lists.creates.texts.join(',')}],"summary":${JSON.stringify(summary)},` +
    `"line_count":${entryCount + attributeCount},"artifact_id":${JSON.stringify(artifactId)}}`;
  const { applyable } = json;
  return {
    planned,
    hasChanges:
      typeof applyable === 'boolean' ? applyable : entryCount + noted.outputs + noted.moved + noted.imported > 0,
    summary,
    view,
  };
}

function emptyList(): { readonly entries: PlanEntry[]; readonly texts: string[] } {
  return { entries: [], texts: [] };
}

function countOutputs(json: JsonObject): number {
  return entriesOf(json['output_changes'], 'output_changes').filter(([, change]) => {
    const actions = listOf(memberOf(change, 'actions'), 'the actions of an output');
    return actions.length !== 1 || actions[0] !== 'no-op';
  }).length;
}

function namesOf(item: unknown, place: string): Omit<PlanEntry, 'action'> {
  const [address, type, name] = [memberOf(item, 'address'), memberOf(item, 'type'), memberOf(item, 'name')];
  if (typeof address !== 'string' || typeof type !== 'string' || typeof name !== 'string') {
    throw malformed(`${place} lacks its address, type or name`);
  }
  return { address, type, name };
}

function resourceOf(item: unknown, place: string) {
  const names = namesOf(item, place);
  const change = memberOf(item, 'change');
  if (!isObject(change)) throw malformed(`${place} lacks its change`);
  const actions = change['actions'];
  if (!Array.isArray(actions) || !actions.every((action) => typeof action === 'string'))
    throw malformed(`${place} lacks its actions`);
  const [deposed, previous] = [memberOf(item, 'deposed'), memberOf(item, 'previous_address')];
  return {
    ...names,
    mode: memberOf(item, 'mode'),
    actions,
    change,
    deposed: typeof deposed === 'string' ? deposed : null,
    movedFrom: typeof previous === 'string' && previous !== names.address ? previous : null,
    importing: change['importing'] ?? null,
  };
}

type Resource = ReturnType<typeof resourceOf>;

function attributesShown(resource: Resource, standing: Standing, hides: Hides): readonly Attribute[] {
  const leaves = new Set<string>();
  eachMaskedOfChange(resource.change, (leaf) => {
    if (typeof leaf !== 'string') leaves.add(leafText(leaf));
  });
  const hidden: Hidden = { text: hides, leaves };
  const attributes: Attribute[] = [];
  if (resource.movedFrom !== null) {
    attributes.push({
      name: '(address)',
      before: shownAddress(resource.movedFrom, hides),
      after: shownAddress(resource.address, hides),
    });
  }
  if (resource.importing !== null) attributes.push(importOf(resource.importing, hidden));
  if (standing.note === 'forgotten')
    attributes.push({ name: '(state)', before: 'managed', after: 'no longer managed, not destroyed' });
  if (standing.note === 'unknown action')
    attributes.push({
      name: '(action)',
      before: '',
      after: valueText({ value: resource.actions.join(', '), sensitive: false, unknown: false }, hidden),
    });
  // A resource that is only forgotten keeps its values: none of them differs.
  if (standing.note === 'forgotten' && standing.action === 'update') return attributes;
  return [...attributes, ...attributesOf(resource.change, hidden)];
}

/** The id of what is imported; newer versions may give an identity of several parts instead, or not know it yet. */
function importOf(importing: unknown, hidden: Hidden): Attribute {
  const value = memberOf(importing, 'id') ?? memberOf(importing, 'identity');
  return {
    name: '(import)',
    before: '',
    after: valueText({ value, sensitive: false, unknown: memberOf(importing, 'unknown') === true }, hidden),
  };
}
