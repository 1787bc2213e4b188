/** What Ansible takes as the name of a variable, and which names and keys are not for data. */

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
export const NAME_EXPECTED = 'expected a name of letters, digits and _ that does not begin with a digit';
/** Variables that begin so decide what Ansible starts on this machine and whom it trusts. */
export const CONNECTION_PREFIX = 'ansible_';
/** A key that begins so makes Ansible read a map as something else. */
export const MARKED_KEY_PREFIX = '__ansible';

/** Names to which Ansible gives its own values. */
export const SET_BY_ANSIBLE: ReadonlySet<string> = new Set(
  (
    'environment group_names groups hostvars inventory_dir inventory_file inventory_hostname ' +
    'inventory_hostname_short omit play_hosts playbook_dir role_name role_names role_path vars'
  ).split(' '),
);
