import { CONNECTION_PREFIX, SET_BY_ANSIBLE } from '../inventories/variable-name.ts';

/** The secrets of a project in a playbook run: each is the password of a vault id, and the value of a variable. */

/** Ansible tries the passwords one after another; each takes about 20 ms. */
const VAULT_SECRETS_MAX = 50;

/** The variables that begin with `ansible_` and hold a password, and nothing else. */
const PASSWORDS = new Set(['ansible_password', 'ansible_ssh_pass', 'ansible_become_password', 'ansible_become_pass']);

/** The variable of a secret: its name with `_` for each `.` and `-`; `_` comes before a digit. */
export function vaultVariable(name: string): string {
  return name.replaceAll(/[.-]/g, '_').replace(/^(?=\d)/, '_');
}

/** Why a project cannot be used for a run, in words; null where it can. `names` are those of its secrets. */
export function vaultFault(project: string, names: readonly string[]): string | null {
  if (names.length === 0) return `project ${project} has no secrets`;
  if (names.length > VAULT_SECRETS_MAX) return `project ${project} has more than ${VAULT_SECRETS_MAX} secrets`;
  const variables = new Map<string, string>();
  for (const name of names) {
    const variable = vaultVariable(name);
    const other = variables.get(variable);
    if (other !== undefined) return `secrets ${other} and ${name} would both be the variable ${variable}`;
    const what = `secret ${name} would be the variable ${variable}, which`;
    if (variable.startsWith(CONNECTION_PREFIX) && !PASSWORDS.has(variable))
      return `${what} changes how Ansible connects`;
    if (SET_BY_ANSIBLE.has(variable)) return `${what} Ansible sets`;
    variables.set(variable, name);
  }
  return null;
}
