/**
 * What is known of programs that rules are likely to call: which start another one, and which take a script. Each row is
 * read by rule-script.ts; those that are closed but for some words are in rule-closed.ts; of a program without a row nothing is known.
 */

/**
 * How an interpreter reads its words. Only what stands here is known of its options: behind any other one it can not be
 * told which word is the script, so that no text of an event may follow.
 */
export interface Interpreter {
  readonly names: RegExp;
  /** Letters of options without a value, of which several may stand behind one dash. */
  readonly flags: string;
  /** Other words that are options without a value. */
  readonly plain?: RegExp;
  /** Letters whose next word is a value, and no script in place of the one that is looked for. */
  readonly values?: string;
  /** The letter whose next word is `name=value`: the value may hold an expression. */
  readonly assigns?: string;
  /** Letters whose next word is the script, or the name of its file. */
  readonly script?: string;
  /** Other words that are such an option; with `=` it holds the script itself. */
  readonly scriptWords?: RegExp;
  /** Letters that hand over code, for words that may be no options of it at all. */
  readonly code: string;
  /** The first word that is no option is the text of the script, and not the name of its file. */
  readonly isText?: true;
  /** No word is its script but behind an option. */
  readonly needsOption?: true;
  /** Behind the option of the script nothing is an option of it any more. */
  readonly scriptEnds?: true;
  /** Words without a dash before the script that are not its file. */
  readonly verbs?: RegExp;
  /** A word that begins with "+" is an option too. */
  readonly hasPlus?: true;
  /** Options may still come behind words that are none, as GNU's tools have it. */
  readonly goesOn?: true;
}

export const INTERPRETERS: readonly Interpreter[] = [
  // Their -c takes no word: what is run is the first word that is no option, as in `sh -c -e SCRIPT`. No -r: bash reads
  // -rcfile as a name that takes the next word.
  { names: /^(?:sh|bash|rbash|dash|zsh|ksh|mksh|ash|csh|tcsh)$/, flags: 'abcefhilmnpstuvx', plain: /^--(?:norc|noprofile|login|posix)$/, values: 'oO', code: 'c', hasPlus: true },
  { names: /^fish$/, flags: 'cilnNP', code: 'cC' },
  { names: /^(?:pwsh(?:-preview)?|powershell)$/, flags: '', plain: /^-(?:nop|noprofile|nol|nologo|noni|noninteractive)$/i, scriptWords: /^-f(?:ile)?$/i, code: 'cefCEF', needsOption: true, scriptEnds: true },
  // No -m: what a module does with its words is not known, and timeit and pdb run them.
  { names: /^(?:python|pypy)[\d.]*$/, flags: 'bBdEiIOPqsSuvx', plain: /^-[WX][\w:=.]+$/, values: 'WX', script: 'c', code: 'cm', scriptEnds: true },
  // No -n and -p: perl opens the files that they read in a way that starts a program where a name ends with "|".
  { names: /^perl[\d.]*$/, flags: 'clTUwW01234567', plain: /^-[mM]-?[\w:=,]+$/, values: 'I', script: 'eE', code: 'eEIM' },
  { names: /^ruby[\d.]*$/, flags: 'lw', plain: /^-r[\w/-]+$/, values: 'Ir', script: 'e', code: 'eIr' },
  // Behind -e lua still takes a file: that is a value here.
  { names: /^(?:lua[\d.]*|luajit|osascript|tclsh[\d.]*)$/, flags: '', values: 'el', code: 'el' },
  { names: /^(?:node|nodejs|bun|deno)$/, flags: '', plain: /^--(?:no-warnings|trace-warnings|enable-source-maps)$/, script: 'ep', scriptWords: /^--(?:eval|print)(?:=|$)|^-pe$/, verbs: /^inspect$/, code: 'epr' },
  { names: /^php[\d.]*$/, flags: 'nq', values: 'dc', script: 'fr', code: 'rBREf' },
  { names: /^(?:awk|gawk|mawk|nawk|original-awk)$/, flags: 'bcNrsSP', plain: /^-F.+$/, values: 'F', assigns: 'v', script: 'efE', code: 'efEil', isText: true },
  // No -i without an ending, which BSD's takes from the next word, and no -l, which has a value only in GNU's.
  {
    names: /^g?sed$/, flags: 'nErszu', plain: /^-[nErszu]*i\.\w+$|^--(?:in-place|quiet|silent|regexp-extended|null-data|separate|sandbox|posix|unbuffered|follow-symlinks)$/,
    script: 'ef', scriptWords: /^--(?:expression|file)(?:=|$)/, code: 'ef', isText: true, goesOn: true,
  }, // prettier-ignore
];

/** Options whose value is a script or names what is run: letters, and long names without their dashes. */
export interface ScriptOptions {
  readonly letters: string;
  readonly long?: readonly string[];
  /** Long options that are a script's with other programs, such as `--file`, are none of it. */
  readonly onlyThese?: true;
}

const SSH_OPTIONS: ScriptOptions = { letters: 'oFI' };
const COPY_OPTIONS: ScriptOptions = { letters: 'oFSD' };
const TAR_OPTIONS: ScriptOptions = {
  letters: 'IF',
  onlyThese: true,
  long: ['to-command', 'checkpoint-action', 'use-compress-program', 'info-script', 'new-volume-script', 'rsh-command', 'rmt-command'],
};
const MYSQL_OPTIONS: ScriptOptions = { letters: 'e', long: ['init-command', 'pager', 'plugin-dir', 'defaults-file', 'defaults-extra-file'] };

/** Programs that have such options, wherever among their words. */
export const SCRIPT_OPTIONS: Readonly<Record<string, ScriptOptions>> = {
  runuser: { letters: 'c' },
  flock: { letters: 'c' },
  git: {
    letters: 'cuxOs',
    long: ['upload-pack', 'receive-pack', 'exec-path', 'config', 'config-env', 'template', 'extcmd', 'open-files-in-pager', 'strategy', 'repo', 'bundle-uri'],
  },
  // What psql writes to goes to a shell where it begins with "|".
  psql: { letters: 'cfo', long: ['output'] },
  mysql: MYSQL_OPTIONS,
  mariadb: MYSQL_OPTIONS,
  mongosh: { letters: 'ef' },
  rsync: { letters: 'eM', long: ['rsync-path', 'remote-option'] },
  ssh: SSH_OPTIONS,
  autossh: SSH_OPTIONS,
  scp: COPY_OPTIONS,
  sftp: { letters: `${COPY_OPTIONS.letters}bs` },
  tar: TAR_OPTIONS,
  gtar: TAR_OPTIONS,
  bsdtar: TAR_OPTIONS,
  'systemd-run': { letters: 'pE', long: ['property', 'setenv'] },
  certbot: {
    letters: 'c',
    long: [
      'deploy-hook', 'renew-hook', 'pre-hook', 'post-hook', 'manual-auth-hook', 'manual-cleanup-hook', 'config', 'config-dir', 'nginx-ctl', 'nginx-server-root', 'apache-ctl', 'apache-server-root',
    ],
  }, // prettier-ignore
  helm: {
    letters: '',
    long: [
      'post-renderer', 'post-renderer-args', 'kubeconfig', 'kube-apiserver', 'kube-token', 'kube-context', 'kube-as-user', 'kube-as-group', 'kube-ca-file', 'kube-tls-server-name',
      'kube-insecure-skip-tls-verify', 'repository-config', 'registry-config',
    ],
  }, // prettier-ignore
  borg: { letters: '', long: ['remote-path', 'tar-filter'] },
  // The name of a repository may hold a command, as in `rclone::sftp,ssh=…`.
  restic: { letters: 'or', long: ['option', 'password-command', 'from-password-command', 'repo', 'from-repo', 'repository-file', 'from-repository-file'] },
  curl: { letters: 'K', long: ['config', 'engine'], onlyThese: true },
  wget: { letters: 'e', long: ['use-askpass', 'config'] },
  split: { letters: '', long: ['filter'], onlyThese: true },
  sort: { letters: '', long: ['compress-program'], onlyThese: true },
  rg: { letters: '', long: ['pre', 'hostname-bin'], onlyThese: true },
  ag: { letters: '', long: ['pager'], onlyThese: true },
  // Its options have one dash, and what stands behind them is read by rule-script.ts.
  find: { letters: '' },
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
  /** The options whose value says so, or in which directory or by which configuration it is started. */
  readonly places?: ScriptOptions;
  /** It starts a program only where this is its first word. */
  readonly verb?: string;
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
  env: { values: 'uCa', operands: 0, places: { letters: 'C', long: ['chdir'] } },
  sudo: { values: 'ugpCrtThUDR', operands: 0, places: { letters: 'RD', long: ['chroot', 'chdir'] } },
  doas: { values: 'uCa', operands: 0, places: { letters: 'C' } },
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
  'systemd-run': { values: 'pEHMtu', operands: 0, places: { letters: 'HM', long: ['working-directory', 'root-directory', 'root-image', 'host', 'machine'] } },
  busybox: { values: '', operands: 0 },
  toybox: { values: '', operands: 0 },
  k3s: { values: '', operands: 0 },
  strace: { values: 'oepsPuEIabSXUO', operands: 0 },
  ltrace: { values: 'aADeFlnopsuwx', operands: 0 },
  tini: { values: 'pe', operands: 0 },
  'dumb-init': { values: 'r', operands: 0 },
  unbuffer: { values: '', operands: 0 },
  proxychains: { values: 'f', operands: 0, places: { letters: 'f' } },
  proxychains4: { values: 'f', operands: 0, places: { letters: 'f' } },
  torsocks: { values: 'upaP', operands: 0 },
  // The tool is a program too, and looked for in a directory.
  valgrind: { values: '', operands: 0, places: { letters: '', long: ['tool', 'db-command'] } },
  'xvfb-run': { values: 'efnpsw', operands: 0, places: { letters: 's', long: ['server-args'] } },
  // The verb, and the number of the container.
  pct: { values: '', operands: 2, choosesRoot: true, verb: 'exec' },
};

/** The row of a program in one of the tables. */
export function rowOf<T>(table: Readonly<Record<string, T>>, program: string): T | undefined {
  return Object.hasOwn(table, program) ? table[program] : undefined;
}

/** First words in the names of variables of programs that load code, or read a configuration which names some. */
const FAMILIES =
  'LD|DYLD|GLIBC|GCC|OPENSSL|SSH|SUDO|GIT|HG|SVN|CVS|SYSTEMD|XDG|DOCKER|PODMAN|HELM|ANSIBLE|TF|TERRAFORM|TERRAGRUNT|VAGRANT|PIPX?|UV|VIRTUAL_ENV|CONDA|GEM|BUNDLE|' +
  'NODE|NPM|npm_config|YARN|BUN|DENO|LUA|R|JDK|MAVEN|GRADLE|CATALINA|DOTNET|CORECLR|CMAKE|RSYNC|TAR|TMUX|GTK|QT|AWS_CONFIG|AWS_SHARED';
/** The same where the rest of the name follows without a line between. */
const STEMS = 'PYTHON|PERL|RUBY|_?JAVA|PHP|TCL|BASH|ZSH|LESS|KUBE|CARGO|RUST|GO|VIM|MAKE|PSQL|TERMINFO';
/** Ends of the names of variables that name a program, its options, a library, or where these are looked for. */
const ENDS =
  'PATHS?|HOME|LIBS?|OPTS?|OPTIONS|FLAGS|PAGER|EDITOR|VISUAL|BROWSER|SHELL|ASKPASS|RSH|COMMAND|CMD|PROG|PROGRAM|EXEC|HOOKS?|PRELOAD|STARTUP|WRAPPER|PLUGINS?|MODULES?|ENGINES?|CONF|CONFIG|PROFILE|INIT';
const SINGLE = 'IFS|ENV|PS[0-4]|CC|CXX|AR|FCEDIT|EXINIT|TERMCAP|ZDOTDIR|PGSYSCONFDIR|INPUTRC|WGETRC|SCREENRC|MAILRC';

/** An assignment to a variable that says which program or library is run, or gives a program options or a configuration. */
export const VARIABLES = new RegExp(`^(?:${SINGLE}|(?:${FAMILIES})(?:_\\w*)?|(?:${STEMS})\\w*|\\w*(?:${ENDS}))=`);
