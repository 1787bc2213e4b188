import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../domain/failure.ts';
import { type Inventory, isMap, isNumber, type Vars, type VarValue } from '../../domain/inventories/inventory.ts';
import { isCredentialName } from '../../domain/secrets/credential-name.ts';
import { KEPT } from '../core/sections/kept.ts';

/** The stored value in the same place; undefined without one. */
type Stored = VarValue | undefined;

/** Gives the value that takes the place of a variable, or of a field of its value. */
type Replace = (name: string, value: VarValue, stored: Stored) => VarValue;

const EMPTY: Vars = new Map();

/** The inventory with `[kept]` for each value whose name marks it as a credential, also inside maps. */
export function hideVariables(inventory: Inventory): Inventory {
  return mapVariables(inventory, null, (_where) => hide);
}

function hide(name: string, value: VarValue): VarValue {
  return isCredentialName(name) ? KEPT : value;
}

/** The inventory with stored values in place of `[kept]`. Throws invalid_argument where none is stored. */
export function keepVariables(inventory: Inventory, stored: Inventory | null): Inventory {
  return mapVariables(inventory, stored, (where) => (name, value, before) => {
    if (value !== KEPT) return value;
    if (before !== undefined) return before;
    throw new Failure(
      'invalid_argument',
      `text: ${name} of ${where}: ${KEPT} keeps the stored value, and there is no such value; write it.`,
    );
  });
}

function mapVariables(
  { hosts, groups }: Inventory,
  stored: Inventory | null,
  replacing: (where: string) => Replace,
): Inventory {
  return {
    hosts: new Map(
      [...hosts].map(([name, vars]) => [name, mapValues(vars, stored?.hosts.get(name), replacing(`host ${name}`))]),
    ),
    groups: new Map(
      [...groups].map(([name, group]) => {
        const before = stored?.groups.get(name)?.vars;
        return [name, { ...group, vars: mapValues(group.vars, before, replacing(`group ${name}`)) }];
      }),
    ),
  };
}

function mapValues(values: Vars, stored: Vars = EMPTY, replace: Replace): Vars {
  return new Map([...values].map(([name, value]) => [name, mapValue(name, value, stored.get(name), replace)]));
}

/** Of a list only the maps in it have names. */
function mapValue(name: string, value: VarValue, stored: Stored, replace: Replace): VarValue {
  const replaced = replace(name, value, stored);
  if (replaced !== value || typeof value !== 'object' || value === null || isNumber(value)) return replaced;
  if (isMap(value)) return { fields: mapValues(value.fields, fieldsOf(stored), replace) };
  return value.map((each, i) => (isNested(each) ? mapValue('', each, itemOf(stored, value, i), replace) : each));
}

function isNested(value: VarValue): boolean {
  return typeof value === 'object' && value !== null && !isNumber(value);
}

function fieldsOf(value: Stored): Vars | undefined {
  return typeof value === 'object' && value !== null && isMap(value) ? value.fields : undefined;
}

/**
 * The stored item that is the same but for its credentials: an item before it may have been removed. Several that are
 * the same count by their places, where no item was added or removed.
 */
function itemOf(stored: Stored, list: readonly VarValue[], index: number): Stored {
  if (!Array.isArray(stored)) return undefined;
  const items = stored as readonly VarValue[];
  const wanted = hidden(list[index]);
  const alike = items.filter((item) => isDeepStrictEqual(hidden(item), wanted));
  const samePlace = items[index];
  if (items.length === list.length && samePlace !== undefined && alike.includes(samePlace)) return samePlace;
  return alike.length === 1 ? alike[0] : undefined;
}

function hidden(item: Stored): Stored {
  return item === undefined ? undefined : mapValue('', item, undefined, hide);
}
