/**
 * Programs that run what they are told in more ways than can be read word by word, and behind which of their words an
 * expression may stand all the same. Each row is read by rule-script.ts.
 */
import type { ScriptOptions } from './rule-programs.ts';

/** An expression may only stand behind one of these words, and nowhere at all together with one of those that run something. */
export interface Closed {
  /** None: nowhere; `any word`: anywhere but first, and there too as the value of an option. */
  readonly behind?: readonly string[] | 'any word';
  readonly never?: RegExp;
  /**
   * Where that word has to be the program's verb: the options that may stand before it. Behind any other option the verb
   * can not be told from an option's value.
   */
  readonly options?: VerbOptions;
  /** Options whose value says which server is told what to do, as whom, or by which configuration; wherever they stand. */
  readonly servers?: ScriptOptions;
  /** Together with one of these words, what has to stand in each word before its expression. */
  readonly addresses?: { readonly words: RegExp; readonly before: RegExp };
}

/** Options that may stand before a verb. Those of the form `--name=value` always may. */
export interface VerbOptions {
  /** Options without a value. */
  readonly flags: RegExp;
  /** Options whose value is the next word. */
  readonly values?: RegExp;
  /** First words of verbs that have two. */
  readonly groups?: readonly string[];
}

// Among them the files, also those of other servers, that say what is deleted.
const CLUSTER_SERVERS: ScriptOptions = {
  letters: 'sfk',
  long: [
    'kubeconfig', 'server', 'token', 'as', 'as-group', 'as-uid', 'as-user-extra', 'insecure-skip-tls-verify', 'certificate-authority', 'client-certificate', 'client-key', 'tls-server-name', 'context',
    'cluster', 'user', 'username', 'password', 'cache-dir', 'filename', 'kustomize',
  ],
}; // prettier-ignore
// podman takes those that stand before the verb behind it too.
const CONTAINER_SERVERS: ScriptOptions = {
  letters: 'Hc',
  long: [
    'host', 'context', 'config', 'url', 'connection', 'identity', 'ssh', 'tlscacert', 'tlscert', 'tlskey', 'tlsverify', 'conmon', 'runtime', 'runtime-flag', 'hooks-dir', 'module', 'root', 'runroot',
    'storage-driver', 'storage-opt', 'imagestore', 'volumepath', 'tmpdir', 'network-cmd-path', 'network-config-dir', 'cdi-spec-dir', 'address', 'data-root', 'cni-path', 'cni-netconfpath',
  ],
}; // prettier-ignore
const MACHINE_SERVERS: ScriptOptions = { letters: 'HM', long: ['host', 'machine', 'root', 'image'] };
const CONTAINERS: Closed = {
  servers: CONTAINER_SERVERS,
  behind: [
    'restart', 'stop', 'start', 'kill', 'pause', 'unpause', 'rm', 'rmi', 'logs', 'inspect', 'stats', 'top', 'port', 'wait', 'ps', 'events', 'disconnect',
  ],
  never: /^(?:exec|run|create|build|buildx|bake|up)$/,
  options: {
    flags: /^(?:-[Dr]|--(?:debug|remote|tls|tlsverify|syslog|verbose|compatibility|dry-run))$/,
    values: /^(?:-[Hclnafp]|--(?:host|context|config|log-level|tlscacert|tlscert|tlskey|url|connection|identity|namespace|address|file|project-name|project-directory|profile|env-file|ansi|progress|parallel))$/,
    groups: ['compose', 'container', 'image', 'network', 'volume', 'pod', 'service', 'stack', 'node', 'system'],
  },
}; // prettier-ignore
const CLUSTER: Closed = {
  servers: CLUSTER_SERVERS,
  behind: ['rollout', 'delete', 'get', 'describe', 'logs', 'scale', 'cordon', 'uncordon', 'drain', 'top', 'wait', 'label', 'taint', 'events'],
  never: /^(?:exec|run|rsh|debug|attach|create|apply|replace|patch|edit|set)$/,
  options: {
    flags: /^--(?:insecure-skip-tls-verify|match-server-version|warnings-as-errors|disable-compression)$/,
    values: /^(?:-[nsv]|--(?:namespace|context|cluster|user|server|kubeconfig|token|as|as-group|as-uid|request-timeout|cache-dir|certificate-authority|client-certificate|client-key|tls-server-name|username|password))$/,
  },
}; // prettier-ignore
const SYSTEM_CONTAINERS: Closed = {
  behind: ['restart', 'stop', 'start', 'pause', 'delete', 'info', 'list'],
  never: /^(?:exec|shell|console|config|profile|launch|init)$/,
  options: {
    flags: /^(?:-[qv]|--(?:debug|force-local|quiet|verbose))$/,
    values: /^--project$/,
    groups: ['image', 'network', 'storage'],
  },
};
const UNIT_OPTIONS: VerbOptions = {
  flags:
    /^(?:-[aflqr]|--(?:user|system|no-block|no-pager|no-legend|no-ask-password|now|quiet|wait|force|full|all|plain|failed|runtime))$/,
  values:
    /^(?:-[HMnopst]|--(?:host|machine|type|state|property|signal|kill-who|kill-whom|job-mode|lines|output|what))$/,
};
// Verbs that take a path make it a unit, and others say in which environment units are started.
const UNITS: Closed = {
  servers: MACHINE_SERVERS,
  behind: [
    'restart', 'start', 'stop', 'reload', 'try-restart', 'reload-or-restart', 'try-reload-or-restart', 'status', 'show', 'cat', 'is-active', 'is-failed', 'is-enabled', 'kill', 'reset-failed', 'freeze',
    'thaw', 'disable', 'mask', 'unmask', 'list-units', 'list-timers', 'list-dependencies',
  ],
  options: UNIT_OPTIONS,
}; // prettier-ignore
const MACHINES: Closed = {
  servers: MACHINE_SERVERS,
  behind: ['start', 'stop', 'poweroff', 'reboot', 'terminate', 'kill', 'status', 'show'],
  never: /^(?:shell|login|bind|copy-to|edit)$/,
  options: UNIT_OPTIONS,
};
const GIT: Closed = {
  behind: [
    'log', 'show', 'diff', 'status', 'describe', 'blame', 'shortlog', 'rev-parse', 'rev-list', 'ls-files', 'ls-tree', 'ls-remote', 'cat-file', 'fetch', 'pull', 'push',
    'clone', 'checkout', 'switch', 'restore', 'reset', 'revert', 'cherry-pick', 'merge', 'tag', 'branch', 'add', 'rm', 'mv', 'commit', 'stash',
  ],
  never: /^(?:foreach|filter-branch|filter-repo|bisect|config|difftool|mergetool|rebase|submodule|for-each-repo|send-email)$/,
  options: {
    flags: /^(?:-[pP]|--(?:paginate|no-pager|bare|no-replace-objects|no-optional-locks|no-lazy-fetch|no-advice|(?:literal|glob|noglob|icase)-pathspecs))$/,
    values: /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|super-prefix|config-env|attr-source))$/,
    groups: ['remote', 'worktree', 'notes'],
  },
  // `ext::` and other names before "::" or an unknown one before "://" start a program: which it is has to be decided before the expression.
  addresses: {
    words: /^(?:clone|fetch|pull|push|ls-remote|remote)$/,
    before: /^(?:(?:https?|ssh|git|ftps?):\/\/[^/]+\/|file:\/\/\/|[A-Za-z0-9+.-]*[^A-Za-z0-9+.:-]|[A-Za-z0-9+.-]+:[^:/])/,
  },
}; // prettier-ignore
const IP: Closed = {
  behind: ['link', 'addr', 'address', 'route', 'neigh', 'neighbour', 'rule'],
  options: { flags: /^-(?:[46sdjohp]|br)$/ },
  never: /^xdp/,
};
// Options may stand there without a dash.
const TAR: Closed = { behind: 'any word', never: /^[A-Za-z]*[IF][A-Za-z]*$/ };
const NOWHERE: Closed = {};

const CLOSED_ROWS: readonly (readonly [names: readonly string[], row: Closed])[] = [
  [['docker', 'docker-compose', 'podman', 'podman-compose', 'nerdctl'], CONTAINERS],
  [['kubectl', 'oc'], CLUSTER],
  [['lxc', 'incus'], SYSTEM_CONTAINERS],
  // Behind exec it is read as a program that starts another one.
  [
    ['pct'],
    {
      behind: ['start', 'stop', 'shutdown', 'reboot', 'suspend', 'resume', 'status', 'unlock', 'exec'],
      options: { flags: /^$/ },
    },
  ],
  [['systemctl'], UNITS],
  [['machinectl'], MACHINES],
  [['git'], GIT],
  [['tar', 'gtar', 'bsdtar'], TAR],
  [['ip'], IP],
  [['helm'], { behind: 'any word', never: /^plugin$/ }],
  [['borg'], { behind: 'any word', never: /^with-lock$/ }],
  [['restic'], { behind: 'any word', never: /^--stdin-f/ }],
  // Without the option its words are those of a shell.
  [['runuser'], { behind: ['-u', '--user'] }],
  [
    [
      'su',
      'sg',
      'script',
      'expect',
      'screen',
      'tmux',
      'parallel',
      'make',
      'gmake',
      'at',
      'batch',
      'crontab',
      'run-parts',
      'sqlite3',
    ],
    NOWHERE,
  ],
  [
    [
      'ansible',
      'ansible-playbook',
      'ansible-console',
      'ansible-pull',
      'salt',
      'salt-call',
      'salt-ssh',
      'pssh',
      'parallel-ssh',
      'pdsh',
      'clush',
      'dsh',
      'rsh',
      'mosh',
    ],
    NOWHERE,
  ],
  // They run a script, or a package that is fetched first.
  [['deno', 'bun', 'bunx', 'npx', 'npm', 'pnpx', 'pnpm', 'yarn', 'uvx', 'uv', 'pipx'], NOWHERE],
  [['java', 'go', 'pip', 'pip3', 'gem', 'cargo', 'Rscript', 'julia'], NOWHERE],
  // The kernel starts the programs that some of its settings name.
  [['sysctl'], NOWHERE],
  // Even a file's name is a command to them where it begins with a plus sign.
  [
    ['vi', 'vim', 'view', 'vimdiff', 'nvim', 'ex', 'ed', 'emacs', 'emacsclient', 'less', 'more', 'most', 'man'],
    NOWHERE,
  ],
  [['gdb', 'lldb', 'bwrap', 'proot', 'firejail', 'systemd-nspawn'], NOWHERE],
];

export const CLOSED: Readonly<Record<string, Closed>> = Object.fromEntries(
  CLOSED_ROWS.flatMap(([names, row]) => names.map((name) => [name, row])),
);
