/**
 * What is known of programs that rules are likely to call: which start another one, and which take a script. Each row is
 * read by rule-script.ts; of a program without a row nothing is known.
 */

/** How an interpreter reads its options: letters whose next word is the script, or code beside it, and letters with any other value. */
export interface Interpreter {
  readonly names: RegExp;
  readonly script: string;
  readonly code?: string;
  readonly values: string;
  /** Whether its script is the first word that is no option. */
  readonly bare?: true;
  /** Whether options may still come behind words that are none, as GNU's tools have it. */
  readonly goesOn?: true;
}

export const INTERPRETERS: readonly Interpreter[] = [
  { names: /^(?:sh|bash|dash|zsh|ksh|ash|fish|csh|tcsh|pwsh)$/, script: 'c', values: 'oO' },
  { names: /^python[\d.]*$/, script: 'cm', values: 'WX' },
  { names: /^(?:perl[\d.]*|ruby[\d.]*|lua[\d.]*|osascript|tclsh)$/, script: 'eE', code: 'MI', values: '', goesOn: true },
  { names: /^(?:node|nodejs|bun|deno)$/, script: 'ep', code: 'r', values: '', goesOn: true },
  { names: /^php[\d.]*$/, script: 'rBREf', values: 'dc' },
  { names: /^(?:awk|gawk|mawk|nawk|original-awk)$/, script: 'efE', code: 'il', values: 'vF', bare: true },
  { names: /^g?sed$/, script: 'ef', values: 'l', bare: true, goesOn: true },
];

/** Options whose value is a script or names what is run: letters, and long names without their dashes. */
export interface ScriptOptions {
  readonly letters: string;
  readonly long?: readonly string[];
}

const SSH_OPTIONS: ScriptOptions = { letters: 'oFI' };
const COPY_OPTIONS: ScriptOptions = { letters: 'oFSD' };
const TAR_OPTIONS: ScriptOptions = {
  letters: 'IF',
  long: ['to-command', 'checkpoint-action', 'use-compress-program', 'info-script', 'new-volume-script', 'rsh-command', 'rmt-command'],
};
const KUBECTL_OPTIONS: ScriptOptions = { letters: '', long: ['kubeconfig'] };

/** Programs that have such options, wherever among their words. */
export const SCRIPT_OPTIONS: Readonly<Record<string, ScriptOptions>> = {
  runuser: { letters: 'c' },
  flock: { letters: 'c' },
  git: { letters: 'cuxO', long: ['upload-pack', 'receive-pack', 'exec-path', 'config', 'config-env', 'template', 'extcmd', 'open-files-in-pager'] },
  psql: { letters: 'cf' },
  mysql: { letters: 'e', long: ['init-command', 'pager'] },
  mariadb: { letters: 'e', long: ['init-command', 'pager'] },
  mongosh: { letters: 'ef' },
  rsync: { letters: 'eM', long: ['rsync-path', 'remote-option'] },
  ssh: SSH_OPTIONS,
  autossh: SSH_OPTIONS,
  scp: COPY_OPTIONS,
  sftp: { letters: `${COPY_OPTIONS.letters}bs` },
  tar: TAR_OPTIONS,
  gtar: TAR_OPTIONS,
  bsdtar: TAR_OPTIONS,
  kubectl: KUBECTL_OPTIONS,
  oc: KUBECTL_OPTIONS,
  'systemd-run': { letters: 'p', long: ['property', 'setenv'] },
  strace: { letters: 'o', long: ['output'] },
  fd: { letters: 'xX', long: ['exec-batch'] },
  fdfind: { letters: 'xX', long: ['exec-batch'] },
  'start-stop-daemon': { letters: 'xa', long: ['startas'] },
};

/** How the words behind a program are read: the letters of its options with a value, and how many words come before what it runs. */
export interface Reading {
  readonly values: string;
  readonly operands: number;
  /** Whether what stands before the program says in which file system it is looked for. */
  readonly choosesRoot?: true;
}

/** What stands behind them is given to a shell; of ssh, behind the host, to the one on the other machine. */
export const HANDS_TO_SHELL: Readonly<Record<string, Reading>> = {
  watch: { values: 'nqs', operands: 0 },
  eval: { values: '', operands: 0 },
  ssh: { values: 'BbcDEeFIiJLlmOoPpQRSWw', operands: 1 },
  autossh: { values: 'BbcDEeFIiJLlMmOoPpQRSWw', operands: 1 },
};

/** Programs that start another one. */
export const WRAPPERS: Readonly<Record<string, Reading>> = {
  env: { values: 'uCa', operands: 0 },
  sudo: { values: 'ugpCrtThUDR', operands: 0 },
  doas: { values: 'uCa', operands: 0 },
  runuser: { values: 'ugGsw', operands: 0 },
  gosu: { values: '', operands: 1 },
  'su-exec': { values: '', operands: 1 },
  pkexec: { values: '', operands: 0 },
  sshpass: { values: 'fdpP', operands: 0 },
  timeout: { values: 'ks', operands: 1 },
  nice: { values: 'n', operands: 0 },
  ionice: { values: 'cnpPu', operands: 0 },
  numactl: { values: 'NmCip', operands: 0 },
  nohup: { values: '', operands: 0 },
  setsid: { values: '', operands: 0 },
  setpriv: { values: '', operands: 0 },
  stdbuf: { values: 'ioe', operands: 0 },
  taskset: { values: '', operands: 1 },
  chrt: { values: 'TPD', operands: 1 },
  prlimit: { values: 'p', operands: 0 },
  chroot: { values: '', operands: 1, choosesRoot: true },
  flock: { values: 'wE', operands: 1 },
  time: { values: 'fo', operands: 0 },
  exec: { values: 'a', operands: 0 },
  command: { values: '', operands: 0 },
  xargs: { values: 'adEILnPs', operands: 0 },
  unshare: { values: 'RwSG', operands: 0, choosesRoot: true },
  nsenter: { values: 'tSGW', operands: 0, choosesRoot: true },
  'systemd-run': { values: 'pEHMtu', operands: 0 },
  busybox: { values: '', operands: 0 },
  toybox: { values: '', operands: 0 },
  k3s: { values: '', operands: 0 },
  strace: { values: 'oepsPuEIabSXUO', operands: 0 },
  ltrace: { values: 'aADeFlnopsuwx', operands: 0 },
};

/**
 * A program that runs what it is told in more ways than are read here: an expression may only stand behind one of these
 * words of it, and nowhere at all together with one of those that run something.
 */
export interface Closed {
  /** None: nowhere; `any word`: anywhere but first, and there too as the value of an option. */
  readonly behind?: readonly string[] | 'any word';
  readonly never?: RegExp;
}

const CONTAINERS: Closed = {
  behind: ['restart', 'stop', 'start', 'kill', 'pause', 'unpause', 'rm', 'logs', 'inspect', 'stats', 'top', 'port', 'wait', 'ps', 'events'],
  never: /^(?:exec|run|create|build|buildx|bake|up)$/,
};
const CLUSTER: Closed = {
  behind: ['rollout', 'delete', 'get', 'describe', 'logs', 'scale', 'cordon', 'uncordon', 'drain', 'top', 'wait', 'label', 'taint', 'events'],
  never: /^(?:exec|run|rsh|debug|attach|create|apply|replace|patch|edit|set)$/,
};
const SYSTEM_CONTAINERS: Closed = { behind: ['restart', 'stop', 'start', 'pause', 'delete', 'info', 'list'], never: /^(?:exec|shell|console|config|profile|launch|init)$/ };
const GIT: Closed = {
  behind: [
    'log', 'show', 'diff', 'status', 'describe', 'blame', 'shortlog', 'rev-parse', 'rev-list', 'ls-files', 'ls-tree', 'ls-remote', 'cat-file', 'fetch', 'pull', 'push',
    'clone', 'checkout', 'switch', 'restore', 'reset', 'revert', 'cherry-pick', 'merge', 'tag', 'branch', 'add', 'rm', 'mv', 'commit', 'stash',
  ],
  never: /^(?:foreach|filter-branch|filter-repo|bisect|config|difftool|mergetool|rebase|submodule|for-each-repo|send-email)$|^ext::/,
}; // prettier-ignore
// Options may stand there without a dash.
const TAR: Closed = { behind: 'any word', never: /^[A-Za-z]*[IF][A-Za-z]*$/ };
const NOWHERE: Closed = {};

const CLOSED_ROWS: readonly (readonly [names: readonly string[], row: Closed])[] = [
  [['docker', 'docker-compose', 'podman', 'podman-compose', 'nerdctl'], CONTAINERS],
  [['kubectl', 'oc'], CLUSTER],
  [['lxc', 'incus'], SYSTEM_CONTAINERS],
  [['machinectl'], { behind: ['start', 'stop', 'poweroff', 'reboot', 'terminate', 'kill', 'status', 'show'], never: /^(?:shell|login|bind|copy-to|edit)$/ }],
  [['git'], GIT],
  [['tar', 'gtar', 'bsdtar'], TAR],
  [['ip'], { behind: 'any word', never: /^(?:exec|-b|-batch)$/ }],
  // Without the option its words are those of a shell.
  [['runuser'], { behind: ['-u', '--user'] }],
  [['su', 'sg', 'script', 'expect', 'screen', 'tmux', 'parallel', 'make', 'gmake', 'at', 'batch', 'crontab', 'run-parts', 'sqlite3'], NOWHERE],
  [['ansible', 'ansible-playbook', 'ansible-console', 'ansible-pull', 'salt', 'salt-call', 'salt-ssh', 'pssh', 'parallel-ssh', 'pdsh', 'clush', 'dsh', 'rsh', 'mosh'], NOWHERE],
  // Even a file's name is a command to them where it begins with a plus sign.
  [['vi', 'vim', 'view', 'vimdiff', 'nvim', 'ex', 'ed', 'emacs', 'emacsclient', 'less', 'more', 'most', 'man'], NOWHERE],
  [['gdb', 'lldb', 'bwrap', 'proot', 'firejail', 'systemd-nspawn'], NOWHERE],
];

export const CLOSED: Readonly<Record<string, Closed>> = Object.fromEntries(CLOSED_ROWS.flatMap(([names, row]) => names.map((name) => [name, row])));

/** The row of a program in one of the tables. */
export function rowOf<T>(table: Readonly<Record<string, T>>, program: string): T | undefined {
  return Object.hasOwn(table, program) ? table[program] : undefined;
}
