import { fromJson, type Json, toJson } from '../../lib/json.ts';
import { type Inventory, isMap, isNumber, type Vars, type VarValue } from './inventory.ts';

/** The stored form of an inventory: lists of pairs, which keep their order, and where no name is special. */

type Stored = string | boolean | null | { readonly n: string } | { readonly m: StoredVars } | readonly Stored[];
type StoredVars = readonly (readonly [string, Stored])[];

export interface StoredInventory {
  readonly hosts: readonly (readonly [string, StoredVars])[];
  readonly groups: readonly (readonly [
    string,
    { hosts: readonly string[]; children: readonly string[]; vars: StoredVars; priority: number },
  ])[];
}

export function writeModel({ hosts, groups }: Inventory): Json<StoredInventory> {
  const stored: StoredInventory = {
    hosts: [...hosts].map(([name, vars]) => [name, storedVars(vars)]),
    groups: [...groups].map(([name, group]) => [name, { ...group, vars: storedVars(group.vars) }]),
  };
  return toJson(stored);
}

/** Reads what `writeModel` wrote. */
export function readModel(json: Json<StoredInventory>): Inventory {
  const { hosts, groups } = fromJson(json);
  return {
    hosts: new Map(hosts.map(([name, vars]) => [name, varsOf(vars)])),
    groups: new Map(groups.map(([name, group]) => [name, { ...group, vars: varsOf(group.vars) }])),
  };
}

export function writeValue(value: VarValue): string {
  return JSON.stringify(stored(value));
}

function storedVars(vars: Vars): StoredVars {
  return [...vars].map(([name, value]) => [name, stored(value)]);
}

function stored(value: VarValue): Stored {
  if (typeof value !== 'object' || value === null) return value;
  if (isNumber(value)) return { n: value.number };
  if (isMap(value)) return { m: storedVars(value.fields) };
  return value.map(stored);
}

function varsOf(vars: StoredVars): Vars {
  return new Map(vars.map(([name, value]) => [name, valueOf(value)]));
}

function valueOf(value: Stored): VarValue {
  if (typeof value !== 'object' || value === null) return value;
  if ('n' in value) return { number: value.n };
  if ('m' in value) return { fields: varsOf(value.m) };
  return value.map(valueOf);
}
