import { isIP } from 'node:net';
import { isHostName } from './host-name.ts';
import { ALL, isMap, isNumber, type VarValue } from './inventory.ts';
import { quoted, refusedAt } from './refused.ts';
import { CONNECTION_PREFIX, MARKED_KEY_PREFIX, NAME_EXPECTED, SET_BY_ANSIBLE, VARIABLE_NAME } from './variable-name.ts';

/**
 * Which variables an inventory may hold. Those that begin with `ansible_` change how Ansible connects and what it
 * starts, also on this machine, so they are an allow-list. Others are data of the playbooks.
 */

/** The value to store, or what is expected instead. */
type Checked = { readonly value: VarValue } | { readonly expected: string };
type Check = (value: VarValue) => Checked;

/** A login name: no option, no separator of hosts, nothing that a shell reads. */
const LOGIN = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,63}$/;
/** A path on the host, or a word by which Ansible looks for one. */
const INTERPRETER = /^(?:auto|auto_silent|auto_legacy|auto_legacy_silent|\/[A-Za-z0-9_./+-]{1,254})$/;
const BECOME_METHODS = ['sudo', 'su', 'doas'];
const CONNECTIONS = ['ssh', 'local'];
const PORT_MAX = 65_535;

const CONNECTION_VARIABLES: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['ansible_host', (value) => matching(value, isAddress, 'the name or the address of a host')],
  ['ansible_port', port],
  ['ansible_user', (value) => matching(value, (text) => LOGIN.test(text), 'a login name')],
  ['ansible_connection', (value) => oneOf(value, CONNECTIONS)],
  ['ansible_python_interpreter', (value) => matching(value, (text) => INTERPRETER.test(text), 'auto or a path')],
  ['ansible_become', truth],
  ['ansible_become_user', (value) => matching(value, (text) => LOGIN.test(text), 'a login name')],
  ['ansible_become_method', (value) => oneOf(value, BECOME_METHODS)],
]);

/** Of a group only. */
export const PRIORITY = 'ansible_group_priority';

/** By variable: what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  ansible_ssh_host: 'write ansible_host',
  ansible_ssh_port: 'write ansible_port',
  ansible_ssh_user: 'write ansible_user',
  ansible_ssh_private_key_file: 'keep the key in a secret and name it with --ssh-key PROJECT/SECRET',
  ansible_private_key_file: 'keep the key in a secret and name it with --ssh-key PROJECT/SECRET',
  ansible_password: 'a password is kept in a secret, not in an inventory',
  ansible_ssh_pass: 'a password is kept in a secret, not in an inventory',
  ansible_ssh_password: 'a password is kept in a secret, not in an inventory',
  ansible_become_pass: 'a password is kept in a secret, not in an inventory',
  ansible_become_password: 'a password is kept in a secret, not in an inventory',
};

const RESERVED: ReadonlySet<string> = new Set([ALL, ...SET_BY_ANSIBLE]);

const TEMPLATE = /\{\{|\{%|\{#/;
/** Line breaks and tabs are data; the others have no place in YAML. */
const CONTROL = /[^\P{C}\t\n\p{Cf}]/u;

/** The variable as it is stored. Throws invalid_argument that names the line. */
export function variable(name: string, value: VarValue, line: number): VarValue {
  if (!VARIABLE_NAME.test(name)) throw refusedAt(line, `variable ${quoted(name)}: ${NAME_EXPECTED}`);
  if (RESERVED.has(name)) throw refusedAt(line, `variable ${name}: Ansible sets it`);
  requireData(name, value, line);
  const check = CONNECTION_VARIABLES.get(name);
  if (check !== undefined) {
    const checked = check(value);
    if ('expected' in checked) throw refusedAt(line, `variable ${name}: expected ${checked.expected}`);
    return checked.value;
  }
  if (!name.startsWith(CONNECTION_PREFIX)) return value;
  const advice = Object.hasOwn(INSTEAD, name)
    ? INSTEAD[name]
    : `of those that begin with ansible_, an inventory may set ${[...CONNECTION_VARIABLES.keys()].join(', ')}`;
  throw refusedAt(line, `variable ${name} is not accepted; ${advice}`);
}

/** The value of `ansible_group_priority`. Throws invalid_argument. */
export function priority(value: VarValue, line: number): number {
  const number = Number(textOf(value));
  if (Number.isInteger(number) && Math.abs(number) <= 1_000_000) return number;
  throw refusedAt(line, `variable ${PRIORITY}: expected a whole number`);
}

/** Throws where a part of the value is not plain data. */
function requireData(name: string, value: VarValue, line: number): void {
  if (typeof value === 'string') {
    if (TEMPLATE.test(value))
      throw refusedAt(
        line,
        `variable ${name} holds a template; an inventory is data. Put it into group_vars or host_vars of the source`,
      );
    if (CONTROL.test(value) || !value.isWellFormed())
      throw refusedAt(line, `variable ${name} holds a character that is not text`);
  } else if (Array.isArray(value)) {
    for (const each of value as readonly VarValue[]) requireData(name, each, line);
  } else if (isMap(value)) {
    for (const [key, each] of value.fields) {
      requireData(name, key, line);
      if (key.startsWith(MARKED_KEY_PREFIX))
        throw refusedAt(line, `variable ${name}: the key ${quoted(key)} is not accepted`);
      requireData(name, each, line);
    }
  }
}

function textOf(value: VarValue): string {
  return isNumber(value) ? value.number : typeof value === 'string' ? value : '';
}

function matching(value: VarValue, accepts: (text: string) => boolean, expected: string): Checked {
  return typeof value === 'string' && accepts(value) ? { value } : { expected };
}

function oneOf(value: VarValue, words: readonly string[]): Checked {
  return matching(value, (text) => words.includes(text), `one of ${words.join(', ')}`);
}

function isAddress(text: string): boolean {
  return isHostName(text) || (isIP(text) !== 0 && !text.includes('%'));
}

function port(value: VarValue): Checked {
  const text = textOf(value);
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > PORT_MAX) return { expected: 'a port, 1 to 65535' };
  return { value: { number: text } };
}

function truth(value: VarValue): Checked {
  if (typeof value === 'boolean') return { value };
  if (/^(?:yes|true|on|1)$/i.test(textOf(value))) return { value: true };
  if (/^(?:no|false|off|0)$/i.test(textOf(value))) return { value: false };
  return { expected: 'true or false' };
}
