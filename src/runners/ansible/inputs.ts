import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SSH_SILENCE } from '../../domain/inventories/connection.ts';
import type { PlaybookSpec } from '../../domain/playbooks/playbook.ts';
import type { Tree } from '../../domain/sources/directory.ts';
import type { Dependencies } from '../../domain/sources/source.ts';
import type { Json } from '../../domain/yaml/json.ts';
import { REPORT_FD } from '../launch/steps.ts';
import { makeRunFolder, writeRunFile } from '../run-files/run-files.ts';
import type { RunTools } from '../runner.ts';
import { varsFile } from './vars-file.ts';
import { programFile } from '../../lib/files/program-files.ts';

/** The secrets of a project, for the vault ids and variables of a run. */
export interface VaultSecret {
  /** The vault id. */
  readonly name: string;
  readonly variable: string;
  readonly value: Buffer;
}

/** What a run works on. */
export interface PlaybookMaterials {
  /** The source, or the directory. */
  readonly tree: Tree;
  /** Whether the operator allowed the plugins of the tree. */
  readonly plugins: boolean;
  /** What was fetched for the source; null without it. */
  readonly dependencies: Dependencies | null;
  /** Written by the service, see `renderInventory`. */
  readonly inventory: { readonly file: string; readonly text: string };
  /** The hosts of the limit; null for all. */
  readonly hosts: readonly string[] | null;
  /** For OpenSSH. */
  readonly knownHosts: string;
  /** The ports of SSH of the addressed hosts, to which the run may connect. */
  readonly sshPorts: readonly number[];
  /** Hosts at a time. */
  readonly forks: number;
  /** The private key for the hosts; null without one. */
  readonly sshKey: Buffer | null;
  readonly vault: readonly VaultSecret[];
}

const PLUGIN = programFile('runners/ansible/gatehouse_report.py');
const PLUGIN_FOLDER = '.report';
/** Names of the files of secrets that each run may have. */
export const CLEAR_FILES: readonly string[] = ['ssh-key', 'vault-vars.yml'];

interface PlacedInputs {
  /** Without the program and the playbook. */
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Names of the files that hold passwords. */
  readonly clearFiles: readonly string[];
}

/**
 * Places the files that a run reads, and says how ansible-playbook is given them: each value in a file or behind a
 * `=`, so that none can be taken as another option.
 */
export async function placeInputs(
  spec: PlaybookSpec,
  materials: PlaybookMaterials,
  secrets: ReadonlyMap<string, Buffer>,
  tools: Pick<RunTools<never>, 'runDir' | 'placeInput'>,
): Promise<PlacedInputs> {
  const place = (name: string, text: string | Buffer): Promise<string> =>
    tools.placeInput(name, typeof text === 'string' ? Buffer.from(text) : text);
  const { inventory, hosts, vault } = materials;
  const options = [`--inventory=${await place(inventory.file, inventory.text)}`];
  if (hosts !== null) options.push(`--limit=@${await place('limit', `${hosts.join('\n')}\n`)}`);
  if (spec.tags.length > 0) options.push(`--tags=${spec.tags.join(',')}`);
  if (spec.skipTags.length > 0) options.push(`--skip-tags=${spec.skipTags.join(',')}`);
  if (spec.check) options.push('--check');
  if (spec.diff) options.push('--diff');
  options.push(`--extra-vars=@${await place('extra-vars.yml', varsFile(spec.extraVars))}`);
  if (vault.length > 0) options.push(`--extra-vars=@${await place('vault-vars.yml', varsFile(vaultVars(vault)))}`);
  const knownHosts = await place('known_hosts', materials.knownHosts);
  // Last, so that neither the playbook nor a variable of the source can trust another key.
  options.push(`--extra-vars=@${await place('ssh-vars.yml', varsFile(sshVars(knownHosts)))}`);
  const passwords: string[] = [];
  const ids: string[] = [];
  for (const [index, { name, value }] of vault.entries()) {
    passwords.push(`vault-${index}`);
    ids.push(`${name}@${await place(`vault-${index}`, value)}`);
  }
  // Ansible lists the folder of a plugin, which a run cannot do with that of its inputs. It is read before any task.
  await makeRunFolder(tools.runDir, PLUGIN_FOLDER);
  await writeRunFile(tools.runDir, `${PLUGIN_FOLDER}/${basename(PLUGIN)}`, await readFile(PLUGIN));
  const config = await place('ansible.cfg', '[defaults]\n');
  const key = materials.sshKey === null ? null : await place('ssh-key', materials.sshKey);
  const environment = {
    ...environmentOf(tools.runDir, `${tools.runDir}/.ansible`),
    ANSIBLE_FORKS: String(materials.forks),
    ...searchPaths(materials.dependencies),
    ANSIBLE_CONFIG: config,
    ANSIBLE_CALLBACK_PLUGINS: join(tools.runDir, PLUGIN_FOLDER),
    ...(ids.length === 0 ? {} : { ANSIBLE_VAULT_IDENTITY_LIST: ids.join(',') }),
    ...(key === null ? {} : { ANSIBLE_PRIVATE_KEY_FILE: key }),
    ...Object.fromEntries([...secrets].map(([name, value]) => [name, value.toString('utf8')])),
  };
  return { options, environment, clearFiles: passwords };
}

function vaultVars(vault: readonly VaultSecret[]): Record<string, Json> {
  return Object.fromEntries(vault.map(({ variable, value }) => [variable, value.toString('utf8')]));
}

/**
 * OpenSSH reads no file but ours, accepts no other key than the known ones, and shares no connection: the sandbox has
 * no named sockets below Landlock ABI 9.
 */
function sshVars(knownHosts: string): Record<string, Json> {
  const options = {
    UserKnownHostsFile: `"${knownHosts}"`,
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    ControlMaster: 'no',
    ControlPath: 'none',
    IdentityAgent: 'none',
    ServerAliveInterval: SSH_SILENCE.aliveEveryS,
    ServerAliveCountMax: SSH_SILENCE.aliveCount,
  };
  const words = Object.entries(options).map(([name, value]) => `-o '${name}=${value}'`);
  return {
    ansible_ssh_args: `-F none ${words.join(' ')}`,
    ansible_host_key_checking: true,
    ansible_ssh_host_key_checking: true,
  };
}

/** Where Ansible looks for collections and roles besides the folder of the playbook. */
function searchPaths(dependencies: Dependencies | null): Record<string, string> {
  const first = (folder: string): string[] => (dependencies === null ? [] : [join(dependencies.path, folder)]);
  return {
    ANSIBLE_COLLECTIONS_PATH: [...first('collections'), '/usr/share/ansible/collections'].join(':'),
    ANSIBLE_ROLES_PATH: [...first('roles'), '/usr/share/ansible/roles', '/etc/ansible/roles'].join(':'),
  };
}

/** All that Ansible would else read from files of the machine or of the source. */
function environmentOf(runDir: string, home: string): Record<string, string> {
  return {
    SVC_REPORT_FD: String(REPORT_FD),
    ANSIBLE_HOME: home,
    ANSIBLE_LOCAL_TEMP: `${home}/tmp`,
    // A shell of the host replaces it: for the local connection its home is the directory of the run.
    ANSIBLE_REMOTE_TMP: '$HOME/.ansible/tmp',
    ANSIBLE_CALLBACKS_ENABLED: 'gatehouse_report',
    ANSIBLE_STDOUT_CALLBACK: 'default',
    ANSIBLE_INVENTORY_ENABLED: 'yaml',
    ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'true',
    ANSIBLE_CACHE_PLUGIN: 'memory',
    ANSIBLE_CACHE_PLUGIN_CONNECTION: `${home}/facts`,
    ANSIBLE_PERSISTENT_CONTROL_PATH_DIR: `${home}/pc`,
    ANSIBLE_SSH_CONTROL_PATH_DIR: `${home}/cp`,
    ANSIBLE_HOST_KEY_CHECKING: 'true',
    ANSIBLE_PIPELINING: 'true',
    // Found as always, without a warning: that of a host that cannot be reached repeats the whole reason.
    ANSIBLE_PYTHON_INTERPRETER: 'auto_silent',
    ANSIBLE_TIMEOUT: String(SSH_SILENCE.connectWithinS),
    ANSIBLE_RETRY_FILES_ENABLED: 'false',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_NOCOWS: '1',
    XDG_CACHE_HOME: `${runDir}/.cache`,
  };
}
