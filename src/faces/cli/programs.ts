import type { VerbBehaviour } from '../../operations/core/cli-face.ts';
import type { Flag, Verb } from './syntax/tree.ts';

/** What each first word of a command is about, in the order of the help. */
export const NOUNS: Readonly<Record<string, string>> = {
  serve: 'Run the daemon: API, pages and the job queue',
  web: 'Serve API and pages without running jobs',
  migrate: 'Change the store to the schema of this build',
  doctor: 'Check each part of the installation on its own',
  whoami: 'Show who is calling and which server answers',
  workspace: 'Plan, apply and destroy infrastructure',
  approval: 'See what waits for a yes, and decide',
  command: 'Run an ad-hoc command as a job',
  job: 'List, show, follow, cancel and redrive jobs',
  maintenance: 'Prepare a reboot: cordon, uncordon, readiness',
  event: 'What came in, and what became of it',
  rule: 'What is done about an event',
  silence: 'Stop a rule for a while',
  mute: 'Hold announcements for a while; jobs go on',
  webhook: 'Where alerts come in',
  schedule: 'Run something at its time',
  notify: 'Who is told, and how',
  deadman: 'Tell when nothing is heard any more',
  source: 'Git repositories and directories that runs take their files from',
  hooks: 'Show the lifecycle hooks that a source declares',
  secret: 'Keep values that runs need; they are never shown again',
  seal: 'The key that everything secret is kept under',
  audit: 'Show the audit ledger',
  token: 'Make, list and revoke tokens',
  commands: 'Show the tree of commands',
  completion: 'Print a completion script for a shell',
  version: 'Show the version',
};

/** What the verbs below two words are about, where a noun has such a group. */
export const GROUPS: Readonly<Record<string, string>> = {
  'notify endpoint': 'The devices that this token registered for pages',
};

/** How the first page of the help puts the nouns together: each stands in one group. */
export const NOUN_GROUPS: readonly { readonly nouns: readonly string[]; readonly about: string }[] = [
  { nouns: ['serve', 'web'], about: 'Run the daemon, or API and pages without jobs' },
  { nouns: ['doctor', 'migrate', 'whoami'], about: 'Check or upgrade the installation; who is calling' },
  { nouns: ['job', 'command', 'approval', 'maintenance'], about: 'Queue, follow and decide; prepare a reboot' },
  { nouns: ['workspace', 'source', 'hooks'], about: 'Plan, apply and destroy infrastructure' },
  { nouns: ['event', 'rule', 'webhook', 'schedule'], about: 'React to what comes in, and to the clock' },
  { nouns: ['silence', 'mute', 'notify', 'deadman'], about: 'Who is told of what, and when not' },
  { nouns: ['secret', 'seal', 'token', 'audit'], about: 'Keep values, their key, who may ask, and who did what' },
  { nouns: ['commands', 'completion', 'version'], about: 'About svc itself' },
];

/** Flags of every verb beside the settings that every program takes. Their twins are read in `options.ts`. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  {
    name: 'output',
    type: 'string',
    placeholder: 'FORMAT',
    values: ['text', 'json'],
    env: 'SVC_OUTPUT',
    help: 'How to answer; default text',
  },
  {
    name: 'remote',
    type: 'string',
    placeholder: 'URL',
    env: 'SVC_REMOTE',
    help: 'Ask the server at this base URL in place of the local data directory',
  },
  {
    name: 'token-file',
    type: 'string',
    placeholder: 'FILE',
    env: 'SVC_TOKEN_FILE',
    help: 'The token for --remote; - is standard input. Or SVC_TOKEN holds the token itself',
  },
  { name: 'no-input', type: 'boolean', env: 'SVC_NO_INPUT', help: 'Never ask; refuse what would need an answer' },
  { name: 'yes', type: 'boolean', env: 'SVC_YES', help: 'Answer yes where a question would be asked' },
  { name: 'no-color', type: 'boolean', env: 'NO_COLOR', help: 'No colour, on a terminal too' },
  { name: 'help', type: 'boolean', help: 'Show help; also -h, anywhere' },
];

/** Every write takes one but those whose answer is shown once. */
export const IDEMPOTENCY_FLAG: Flag = {
  name: 'idempotency-key',
  type: 'string',
  placeholder: 'KEY',
  help: 'A repeat with this key answers as the first did and does nothing',
};

/** How a field is told whose value is an object with free names: as NAME=VALUE, which the schema can't say. */
export const PAIR_FLAGS: Readonly<Record<string, Pick<Flag, 'placeholder' | 'help'>>> = {
  run_secrets: {
    placeholder: 'VAR=PROJECT/SECRET',
    help: 'A secret that the run gets as the input variable VAR; may be given often',
  },
};

/** Fields whose flag names a file: the command line reads it, `-` for standard input, and hands its text over. */
export const FILE_FIELDS: readonly string[] = ['ledger_head'];

/** The flags of a behaviour, beside those of the fields. */
export function behaviourFlags({ wait, stdin, until }: VerbBehaviour): Flag[] {
  const ended = wait === 'result' ? 'command' : 'job';
  return [
    ...(wait === undefined
      ? []
      : [flag({ name: 'wait', help: `Follow the output and exit with the exit code of the ${ended}` })]),
    ...(stdin === undefined
      ? []
      : [
          flag({
            name: 'file',
            placeholder: 'FILE',
            help: `Read ${stdin.what} from this file, not from standard input`,
          }),
        ]),
    ...(until === undefined
      ? []
      : [
          flag({
            name: 'timeout',
            placeholder: 'DURATION',
            help: 'Give up after this long, such as 10m; the job goes on',
          }),
        ]),
  ];
}

function flag(own: Pick<Flag, 'name' | 'help' | 'placeholder'>): Flag {
  return { type: own.placeholder === undefined ? 'boolean' : 'string', ...own };
}

/** Verbs that are no operation. `serve` and `web` get their flags from the settings. */
export const PROGRAM_VERBS: readonly Verb[] = [
  {
    path: 'serve',
    summary: 'Run the daemon: API, pages and the job queue',
    examples: ['svc serve', 'svc serve --web-addr 127.0.0.1:8420 --base-path /ops'],
    positionals: [],
    flags: [{ name: 'no-migrate', type: 'boolean', help: 'Refuse to start on a store with an older schema' }],
    call: { program: 'serve' },
  },
  {
    path: 'web',
    summary: 'Serve API and pages without running jobs',
    examples: ['svc web', 'svc web --addr 127.0.0.1:8430'],
    positionals: [],
    flags: [],
    call: { program: 'web' },
  },
  {
    path: 'migrate',
    summary: 'Change the store to the schema of this build',
    examples: ['svc migrate'],
    positionals: [],
    flags: [],
    call: { program: 'migrate' },
  },
  {
    path: 'commands',
    summary: 'Show the tree of commands',
    examples: ['svc commands', 'svc commands --output json'],
    positionals: [],
    flags: [],
    call: { program: 'commands' },
  },
  {
    path: 'completion',
    summary: 'Print a completion script for a shell',
    examples: ['source <(svc completion bash)', 'svc completion fish > ~/.config/fish/completions/svc.fish'],
    positionals: [{ field: 'shell', type: 'string', required: true, values: ['bash', 'zsh', 'fish'] }],
    flags: [],
    call: { program: 'completion' },
  },
  {
    path: 'version',
    summary: 'Show the version',
    examples: ['svc version', 'svc version --output json'],
    positionals: [],
    flags: [],
    call: { program: 'version' },
  },
];
