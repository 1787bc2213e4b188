import {
  CONNECTION_PREFIX,
  MARKED_KEY_PREFIX,
  NAME_EXPECTED,
  SET_BY_ANSIBLE,
  VARIABLE_NAME,
} from '../inventories/variable-name.ts';
import type { Json } from '../yaml/json.ts';

/** Bytes of the variables of a run as JSON. */
export const EXTRA_VARS_BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 20;

/**
 * Why variables are refused, in words that begin with the name of the variable; null for good ones. Those that begin
 * with `ansible_` decide what Ansible starts on this machine and whom it trusts.
 */
export function extraVarsFault(vars: Readonly<Record<string, Json>>): string | null {
  if (Buffer.byteLength(JSON.stringify(vars)) > EXTRA_VARS_BYTES_MAX)
    return `expected at most ${EXTRA_VARS_BYTES_MAX} bytes`;
  for (const [name, value] of Object.entries(vars)) {
    const fault = nameFault(name) ?? valueFault(value, 1);
    if (fault !== null) return `${JSON.stringify(name.slice(0, 80))}: ${fault}`;
  }
  return null;
}

function nameFault(name: string): string | null {
  if (!VARIABLE_NAME.test(name)) return NAME_EXPECTED;
  if (name.startsWith(CONNECTION_PREFIX))
    return 'variables that begin with ansible_ change how Ansible connects; set them in the inventory';
  return SET_BY_ANSIBLE.has(name) ? 'Ansible sets it' : null;
}

function valueFault(value: Json, depth: number): string | null {
  if (depth > DEPTH_MAX) return `expected at most ${DEPTH_MAX} levels`;
  if (typeof value === 'number')
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
      ? null
      : 'the number is too large; write it as a text';
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, each] of Object.entries(value)) {
    if (key.startsWith(MARKED_KEY_PREFIX)) return `the key ${JSON.stringify(key.slice(0, 80))} is not accepted`;
    const fault = valueFault(each, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}
