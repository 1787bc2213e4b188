import { APPROVAL_TTL_DEFAULT_MS, APPROVAL_TTL_MAX_MS } from '../../domain/approvals/approval.ts';
import { PROBE_BUDGET } from '../../domain/checks/probe-rate.ts';
import { requireDuration } from '../../domain/duration.ts';
import { LEASE_MAX_MS } from '../../domain/time-limits.ts';
import { BACKUP_SETTINGS } from './backups/settings.ts';
import { GATE_SETTINGS } from './gate/settings.ts';
import { hasDatabasePassword, hasTargetCredential } from './flag-credential.ts';
import { keptFor } from './kept-for.ts';
import { LISTENER_SETTINGS } from './listener-settings.ts';
import {
  canary,
  databaseUrl,
  isOn,
  jobMemory,
  nodeName,
  durationSetting,
  optional,
  optionalPath,
  pushDetail,
  type Setting,
  setting,
  socketPath,
  wholeNumber,
} from './setting-values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every setting. A flag overrides its environment variable, which overrides the default. None is a secret. */
export const SETTINGS = {
  config: setting({
    flag: 'config',
    placeholder: 'FILE',
    help: 'File of settings (YAML): names of flags and their values; flags and variables win',
    decides: 'file',
    read: optionalPath,
  }),
  dataDir: setting({
    flag: 'data-dir',
    placeholder: 'DIR',
    help: 'Data directory; default $XDG_DATA_HOME/gatehouse',
    // An account that can exchange it gives the service its own store, or has it close a folder of the system.
    decides: 'folder',
    read: optionalPath,
  }),
  databaseUrl: setting({
    flag: 'database-url',
    placeholder: 'URL',
    help: 'postgres:// URL to use instead of the embedded SQLite; several daemons may share it',
    secret: {
      isIn: hasDatabasePassword,
      what: 'a password must not be on the command line: every user of this machine can read it',
      ways:
        'set SVC_DATABASE_URL, or leave the password out and put it in the file that PGPASSFILE names (default ' +
        '~/.pgpass)',
    },
    read: databaseUrl,
  }),
  sealKeyFile: setting({
    flag: 'seal-key-file',
    placeholder: 'FILE',
    help: 'Seal key file; default seal.key in the data directory',
    read: optionalPath,
  }),
  ...BACKUP_SETTINGS,
  ...GATE_SETTINGS,
  keepJobsMs: keptFor('keep-jobs', 'ended jobs and their output'),
  keepEventsMs: keptFor('keep-events', 'events'),
  keepNotificationsMs: keptFor('keep-notifications', 'notifications that were sent or given up'),
  jobUser: setting({
    flag: 'job-user',
    placeholder: 'NAME',
    only: ['serve'],
    help: 'Account that runs the jobs; default the own one, for root gatehouse-job',
    read: optional,
  }),
  runsDir: setting({
    flag: 'runs-dir',
    placeholder: 'DIR',
    only: ['serve'],
    help: 'Directory of the runs; default in the data directory, as root /var/lib/gatehouse-runs/<instance>',
    decides: 'folder',
    read: optionalPath,
  }),
  sshAgent: setting({
    flag: 'ssh-agent',
    placeholder: 'FILE',
    only: ['serve'],
    help: 'Socket of an SSH agent, for commands on inventories with --ssh-key agent',
    read: (text) => socketPath('ssh-agent', text),
  }),
  allowUnfilteredEgress: setting({
    flag: 'allow-unfiltered-egress',
    isSwitch: true,
    only: ['serve'],
    help:
      'Where the kernel cannot limit TCP to ports (below Linux 6.7), start programs that need this limit without it; ' +
      'the variable is read by all commands',
    read: (text) => isOn('allow-unfiltered-egress', text),
  }),
  ...LISTENER_SETTINGS,
  checkCanary: setting({
    flag: 'check-canary',
    placeholder: 'IP:PORT',
    only: ['serve'],
    help: 'While this address is unreachable, failed checks count as missed observations',
    read: canary,
  }),
  checkCaFile: setting({
    flag: 'check-ca-file',
    placeholder: 'FILE',
    only: ['serve', 'web'],
    help: 'Certificates (PEM) that checks trust beside the public ones; the variable is read by all commands',
    decides: 'file',
    read: optionalPath,
  }),
  checkRefuseOwn: setting({
    flag: 'check-refuse-own-addresses',
    isSwitch: true,
    only: ['serve', 'web'],
    help: 'Checks reach no address of this machine itself; the variable is read by all commands',
    read: (text) => isOn('check-refuse-own-addresses', text),
  }),
  checkProbesPerSecond: setting({
    flag: 'check-probes-per-second',
    placeholder: 'N',
    only: ['serve', 'web'],
    help:
      'Maximum number of probes a second that the enabled checks may take together: targets / interval; default ' +
      `${PROBE_BUDGET.perSecond}; the variable is read by all commands`,
    read: (text) =>
      wholeNumber('check-probes-per-second', text, PROBE_BUDGET.perSecond, [1, PROBE_BUDGET.maxPerSecond]),
  }),
  nodeName: setting({
    flag: 'node-name',
    placeholder: 'NAME',
    only: ['serve'],
    help: 'Name of this daemon among several; default the host name',
    read: nodeName,
  }),
  maxJobs: setting({
    flag: 'max-jobs',
    placeholder: 'N',
    only: ['serve'],
    help: 'Maximum number of jobs that run at a time; default 8',
    read: (text) => wholeNumber('max-jobs', text, 8, [1, 256]),
  }),
  drainTimeoutMs: durationSetting(
    'drain-timeout',
    'How long a restart in place waits for running jobs before it is aborted; at most 24h, default 15m',
    ['15m', 1_000, 86_400_000],
  ),
  forks: setting({
    flag: 'forks',
    placeholder: 'N',
    only: ['serve'],
    help: 'Maximum number of hosts that a command or a playbook works on at a time; default 10',
    read: (text) => wholeNumber('forks', text, 10, [1, 100]),
  }),
  jobMemory: setting({
    flag: 'job-memory',
    placeholder: 'SIZE',
    only: ['serve'],
    help: 'Maximum memory of one job, such as 512MiB or 2GiB; default half of the memory of the machine or container',
    read: (text) => jobMemory('job-memory', text),
  }),
  jobProcesses: setting({
    flag: 'job-processes',
    placeholder: 'N',
    only: ['serve'],
    help: 'Maximum number of processes and threads of one job; default 1024',
    read: (text) => wholeNumber('job-processes', text, 1_024, [16, 100_000]),
  }),
  approvalTtlMs: setting({
    flag: 'approval-ttl',
    placeholder: 'DURATION',
    only: ['serve', 'web'],
    help: 'Time until an undecided approval expires; at most 7d, default 1h; the variable is read by all commands',
    read: (text) =>
      text === undefined
        ? APPROVAL_TTL_DEFAULT_MS
        : requireDuration('--approval-ttl', text, 1_000, APPROVAL_TTL_MAX_MS),
  }),
  leaseMs: durationSetting(
    'lease',
    'PostgreSQL only: a daemon without a sign of life for this time counts as dead; default 15s',
    ['15s', 1_000, LEASE_MAX_MS],
  ),
  warmLaunchers: setting({
    flag: 'warm-launchers',
    placeholder: 'N',
    only: ['serve'],
    help: 'Ignored; accepted so that services of older versions start',
    read: (text) => wholeNumber('warm-launchers', text, 1, [0, 8]),
  }),
  notify: setting({
    flag: 'notify',
    placeholder: '[NAME=]URL',
    only: ['serve'],
    repeat: true,
    help:
      'Send notifications to this target: ntfy+https://, smtp:// or https://; repeatable. With --push-detail full ' +
      'anyone who reads them can decide with the links, as notify:NAME',
    secret: {
      isIn: hasTargetCredential,
      what:
        'a target with a user, a password or a token must not be on a command line, which every user of this ' +
        'machine can read',
      ways: 'put it in the file of --notify-file, or set SVC_NOTIFY',
    },
    read: (text) => (text ?? '').split(/\s+/).filter((part) => part !== ''),
  }),
  notifyFile: setting({
    flag: 'notify-file',
    placeholder: 'FILE',
    only: ['serve'],
    help: 'Send notifications to the targets in this file too, one a line',
    decides: 'file',
    read: optionalPath,
  }),
  pushDetail: setting({
    flag: 'push-detail',
    placeholder: 'LEVEL',
    only: ['serve'],
    help: 'Content of notifications: full (with buttons), summary or terse; default summary',
    read: pushDetail,
  }),
  toolchainManifest: setting({
    flag: 'toolchain-manifest',
    placeholder: 'FILE',
    help: 'JSON file that pins the versions of the optional tools',
    // It says which versions the doctor calls right.
    decides: 'file',
    read: optional,
  }),
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> } & {
  readonly dataDir: string;
};

export function environmentTwin(flag: string): string {
  return `SVC_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** The only place that reads the environment. */
export function processEnvironment(): Environment {
  return process.env;
}
