import type { Noun } from '../../operations/area.ts';
import type { VerbBehaviour, WaitMode } from '../../operations/core/cli-face.ts';
import { RESTORE_VERB } from './backups/verbs.ts';
import { CONTEXT_VERBS } from './context/verbs.ts';
import type { Flag, ProgramName, Verb } from './syntax/tree.ts';

/** The first words of commands that are no operations. */
export const PROGRAM_NOUNS: Readonly<Record<string, Noun>> = {
  serve: { summary: 'Run the daemon: API, web pages and job queue', place: 0, help: ['daemon', 0] },
  web: { summary: 'Serve the API and web pages without running jobs', place: 10, help: ['daemon', 1] },
  migrate: { summary: 'Upgrade the store to the schema of this build', place: 20, help: ['service', 1] },
  watch: { summary: 'Follow jobs, approvals and checks on one screen', place: 50, help: ['follow', 0] },
  context: { summary: 'Name servers, and choose the one that svc uses', place: 340, help: ['context', 0] },
  commands: { summary: 'Show the command tree', place: 350, help: ['describe', 0] },
  completion: { summary: 'Print a completion script for a shell', place: 360, help: ['describe', 1] },
  man: { summary: 'Print the manual page', place: 370, help: ['describe', 3] },
  complete: {
    summary: 'Print the names that a word may become; for completion scripts',
    place: 380,
    help: ['describe', 2],
  },
  'systemd-unit': {
    summary: 'Print a unit that runs this installation under systemd',
    place: 390,
    help: ['daemon', 2],
  },
  version: { summary: 'Show the version', place: 400, help: ['service', 4] },
};

/** The summary of each group of verbs below two words. */
export const GROUPS: Readonly<Record<string, string>> = {
  'notify endpoint': 'Manage the push endpoints of this token',
};

/** Flags of every verb, besides the settings of every program. `options.ts` reads their environment variables. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  {
    name: 'output',
    type: 'string',
    placeholder: 'FORMAT',
    values: ['text', 'json'],
    env: 'SVC_OUTPUT',
    help: 'Output format; default text',
  },
  {
    name: 'remote',
    type: 'string',
    placeholder: 'URL',
    env: 'SVC_REMOTE',
    help: 'Base URL of the server to use instead of the local data directory',
  },
  {
    name: 'context',
    type: 'string',
    placeholder: 'NAME',
    env: 'SVC_CONTEXT',
    help: 'Server of this name, see svc context list; local is this machine',
  },
  {
    name: 'token-file',
    type: 'string',
    placeholder: 'FILE',
    env: 'SVC_TOKEN_FILE',
    help: 'File with the token for --remote; - is standard input. Or set SVC_TOKEN to the token',
  },
  {
    name: 'insecure',
    type: 'boolean',
    env: 'SVC_INSECURE',
    help: 'No warning where the token travels unencrypted to another machine (http)',
  },
  { name: 'no-input', type: 'boolean', env: 'SVC_NO_INPUT', help: 'Never prompt; fail where an answer is needed' },
  { name: 'yes', type: 'boolean', env: 'SVC_YES', help: 'Answer yes to every question' },
  { name: 'no-color', type: 'boolean', env: 'NO_COLOR', help: 'Disable colour' },
  { name: 'help', type: 'boolean', help: 'Show help; also -h, in any position' },
];

/** Every write takes this flag, except those whose answer is shown once. */
export const IDEMPOTENCY_FLAG: Flag = {
  name: 'idempotency-key',
  type: 'string',
  placeholder: 'KEY',
  help: 'Unique key; a repeated request returns the first answer and does nothing',
};

/** Flags for fields whose value is an object of texts: NAME=VALUE, which the schema cannot express. */
export const PAIR_FLAGS: Readonly<Record<string, Pick<Flag, 'placeholder' | 'help'>>> = {
  run_secrets: { placeholder: 'VAR=PROJECT/SECRET', help: 'Secret for the run, as its input variable VAR; repeatable' },
  keys: { placeholder: 'NAME=VALUE', help: 'Keys of a Web Push subscription (p256dh and auth), to encrypt for it' },
  extra_vars: { placeholder: 'NAME=VALUE', help: 'Variable of the playbook; repeatable' },
  vars: { placeholder: 'NAME=VALUE', help: 'Variable of every run, not secret; repeatable' },
};

/** The help of `--wait`, and what the help of its `--timeout` adds; null without a `--timeout`. */
const WAITS: Readonly<Record<WaitMode, { readonly help: string; readonly timeout: string | null }>> = {
  job: { help: 'Follow the output; exit with the exit code of the job', timeout: null },
  plan: { help: 'Follow the output; exit with the exit code of the job', timeout: null },
  result: { help: 'Follow the output; exit with the exit code of the command', timeout: null },
  steps: {
    help: 'Wait until the run has ended; exit with 0 if it succeeded or is degraded, else 1',
    timeout: '; the run continues',
  },
  safe: { help: 'Wait until a reboot interrupts no job', timeout: '; then exit with 7' },
  restarted: { help: 'Wait until the new program has started', timeout: '; the restart continues' },
};

/** The flags of a behaviour, besides those of the fields. */
export function behaviourFlags({ wait, stdin, until }: VerbBehaviour): Flag[] {
  const flags: Flag[] = [];
  if (wait !== undefined) {
    flags.push({ name: 'wait', type: 'boolean', help: WAITS[wait].help });
  }
  if (stdin !== undefined) {
    const help = `Read ${stdin.what} from this file instead of standard input`;
    flags.push({ type: 'string', name: 'file', help, placeholder: 'FILE' });
  }
  const timeout = until === undefined ? wait && WAITS[wait].timeout : '; the job continues';
  if (typeof timeout === 'string') {
    const help = `Stop waiting after this time, such as 10m${timeout}`;
    flags.push({ type: 'string', name: 'timeout', help, placeholder: 'DURATION' });
  }
  return flags;
}

/** Verbs that are not operations. The settings give `serve` and `web` their flags. */
export const PROGRAM_VERBS: readonly Verb[] = [
  program('serve', ['svc serve', 'svc serve --web-addr 127.0.0.1:8420 --base-path /ops'], {
    flags: [{ name: 'no-migrate', type: 'boolean', help: 'Refuse to start if the store has an older schema' }],
  }),
  program('web', ['svc web', 'svc web --addr 127.0.0.1:8430']),
  program('migrate', ['svc migrate']),
  RESTORE_VERB,
  { ...program('watch', ['svc watch', 'svc watch --context prod']), call: { program: 'watch', remote: true } },
  ...CONTEXT_VERBS,
  {
    path: 'config schema',
    summary: 'Print the JSON Schema of a configuration file, for editors',
    examples: ['svc config schema > gatehouse.schema.json'],
    positionals: [],
    flags: [],
    call: { program: 'config-schema' },
  },
  {
    path: 'config import',
    summary: 'Print the export of another program as a configuration file',
    examples: ['svc config import uptime-kuma backup.json > checks.yaml', 'svc config import crontab /etc/crontab'],
    positionals: [
      {
        field: 'from',
        type: 'string',
        required: true,
        values: ['uptime-kuma', 'gatus', 'semaphore', 'awx', 'crontab'],
      },
      { field: 'file', type: 'string', required: true },
    ],
    flags: [],
    call: { program: 'config-import' },
  },
  program('commands', ['svc commands', 'svc commands --output json']),
  program(
    'completion',
    ['source <(svc completion bash)', 'svc completion fish > ~/.config/fish/completions/svc.fish'],
    { positionals: [{ field: 'shell', type: 'string', required: true, values: ['bash', 'zsh', 'fish'] }] },
  ),
  program('man', ['svc man | man -l -', 'svc man > /usr/local/share/man/man1/svc.1']),
  program('complete', ['svc complete -- job get job_'], {
    positionals: [{ field: 'words', type: 'string', required: false, rest: true }],
  }),
  program('systemd-unit', ['svc systemd-unit', 'svc systemd-unit --data-dir /var/lib/gatehouse']),
  program('version', ['svc version', 'svc version --output json']),
];

function program(
  name: ProgramName,
  examples: readonly string[],
  own: Partial<Pick<Verb, 'flags' | 'positionals'>> = {},
): Verb {
  const summary = PROGRAM_NOUNS[name]?.summary ?? '';
  return { path: name, summary, examples, positionals: [], flags: [], ...own, call: { program: name } };
}
