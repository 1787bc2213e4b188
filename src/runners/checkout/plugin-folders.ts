/**
 * Folders beside a playbook and in a role that Ansible loads code from on this machine, without a word of the
 * playbook: it imports all connection, shell and become plugins when it starts, all callbacks before the first play,
 * all filters and tests with the first template, and a file with the name of a built-in plugin takes its place.
 * `library` and `module_utils` are not among them: a module runs where its task runs.
 */
export const PLUGIN_FOLDERS: ReadonlySet<string> = new Set([
  'action_plugins',
  'become_plugins',
  'cache_plugins',
  'callback_plugins',
  'cliconf_plugins',
  'connection_plugins',
  'doc_fragments',
  'filter_plugins',
  'httpapi_plugins',
  'inventory_plugins',
  'lookup_plugins',
  'netconf_plugins',
  'shell_plugins',
  'strategy_plugins',
  'terminal_plugins',
  'test_plugins',
  'vars_plugins',
]);

/** Left-out folders that a line names. */
const FOLDERS_NAMED = 10;

/** For the output of a job; `cure` is what makes it use them. */
export function leftOutLine(folders: readonly string[], cure: string): string {
  const named = folders.slice(0, FOLDERS_NAMED).join(', ');
  const more = folders.length > FOLDERS_NAMED ? ` and ${folders.length - FOLDERS_NAMED} more` : '';
  return (
    `Left out: ${named}${more}. Ansible would run this code on the machine of the daemon by itself. If you trust it, ` +
    `${cure}.`
  );
}
