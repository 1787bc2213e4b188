import { shellWord } from '../../domain/shell-word.ts';
import { type Connection, SSH_SILENCE } from '../../domain/inventories/connection.ts';
import { changedKeyReason } from '../../domain/inventories/host-key.ts';

/** The files that ssh is given. */
export interface SshFiles {
  /** Of the private key; null with an agent. */
  readonly key: string | null;
  /** The socket of an agent; null with a key. */
  readonly agent: string | null;
  readonly knownHosts: string;
  /** Where ssh writes its own messages, apart from the output of the command. */
  readonly log: string;
}

/**
 * No configuration, no forwarding, no proxy, no question: ssh does what is written here, with one key or one agent, and
 * talks to a host only if it has the accepted key.
 */
const OPTIONS: readonly string[] = [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  'GlobalKnownHostsFile=/dev/null',
  'UpdateHostKeys=no',
  'CheckHostIP=no',
  'VerifyHostKeyDNS=no',
  'PreferredAuthentications=publickey',
  'PasswordAuthentication=no',
  'KbdInteractiveAuthentication=no',
  'HostbasedAuthentication=no',
  'GSSAPIAuthentication=no',
  'ForwardAgent=no',
  'ForwardX11=no',
  'ClearAllForwardings=yes',
  'PermitLocalCommand=no',
  'ProxyCommand=none',
  'ProxyJump=none',
  'ControlMaster=no',
  'ControlPath=none',
  'CanonicalizeHostname=no',
  'RequestTTY=no',
  'EscapeChar=none',
  'Tunnel=no',
  'ConnectionAttempts=1',
  `ConnectTimeout=${SSH_SILENCE.connectWithinS}`,
  `ServerAliveInterval=${SSH_SILENCE.aliveEveryS}`,
  `ServerAliveCountMax=${SSH_SILENCE.aliveCount}`,
  'LogLevel=ERROR',
];

/** The words that run the command on the host. The shell of the account there reads each as one word. */
export function sshWords(connection: Connection, files: SshFiles, command: readonly string[]): string[] {
  const { host, address, port, user } = connection;
  const options = [
    ...OPTIONS,
    `UserKnownHostsFile=${files.knownHosts}`,
    ...identityOf(files),
    `HostKeyAlias=${host.toLowerCase()}`,
    `Port=${port}`,
    ...(user === null ? [] : [`User=${user}`]),
  ];
  return [
    'ssh',
    '-F',
    '/dev/null',
    '-E',
    files.log,
    ...options.flatMap((option) => ['-o', option]),
    '--',
    address,
    ...command.map(shellWord),
  ];
}

/** One key, or the keys of one agent. */
function identityOf({ key, agent }: SshFiles): string[] {
  const file = `IdentityFile=${key ?? 'none'}`;
  return agent === null
    ? ['IdentitiesOnly=yes', 'IdentityAgent=none', file]
    : ['IdentitiesOnly=no', `IdentityAgent=${agent}`, file];
}

/** Why the host was not reached, from the messages of ssh; null without any. `folder` is taken out of them. */
export function unreachableReason(log: string, folder: string): string | null {
  const lines = log
    .replaceAll(folder, '')
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '').trim())
    .filter((line) => line !== '');
  const last = lines.at(-1);
  if (last === undefined) return null;
  const refusal = last.startsWith('Host key verification failed') ? 'its host key was not accepted' : null;
  return changedKeyReason(log) ?? refusal ?? last.slice(0, 300);
}
