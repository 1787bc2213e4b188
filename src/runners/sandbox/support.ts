import type { EgressFacts } from './egress.ts';
import { LANDLOCK_ABI_OF_NAMED_SOCKETS, LANDLOCK_ABI_OF_PORTS } from './kernel/landlock.ts';

/** What the sandbox of this machine can do. `limited`: some sandboxed programs are refused, or get more or less. */
export interface SandboxSupport {
  readonly state: 'full' | 'limited' | 'none';
  /** A sentence without its full stop. */
  readonly detail: string;
}

/** Describes the sandbox of a kernel with Landlock, for the doctor. */
export function supportOf(facts: EgressFacts): SandboxSupport {
  const detail = `Landlock ABI ${facts.abi}, seccomp on ${process.arch}`;
  if (facts.abi >= LANDLOCK_ABI_OF_PORTS) return { state: 'full', detail: `${detail}${openGaps(facts.abi)}` };
  const { state, ...older } = supportOfOlder(facts);
  return { state, detail: `${detail}: this kernel cannot limit TCP to ports (Linux 6.7 can); ${older.detail}` };
}

function supportOfOlder({ isOtherAccount, allowUnfilteredEgress }: EgressFacts): SandboxSupport {
  if (!isOtherAccount) {
    const detail =
      'jobs would run as the account of the service, so every sandboxed job is refused. Start svc serve as root, ' +
      'without --job-user root, or with --job-user and CAP_SETUID, CAP_SETGID and CAP_KILL';
    return { state: 'none', detail };
  }
  const limited = 'commands with egress_ports, playbooks, and git over ssh';
  const rest = allowUnfilteredEgress
    ? `${limited} reach every port (--allow-unfiltered-egress)`
    : `${limited} are refused without --allow-unfiltered-egress`;
  const detail =
    'plan, apply, destroy and drift run, and reach every port as elsewhere; other commands run without internet ' +
    `sockets; ${rest}`;
  return { state: 'limited', detail };
}

/** What a kernel that limits TCP to ports leaves open. */
function openGaps(abi: number): string {
  if (abi < 6) return '; signals and sockets to other processes of the same user are not restricted below ABI 6';
  if (abi < LANDLOCK_ABI_OF_NAMED_SOCKETS)
    return (
      '; below ABI 9 commands get no unix sockets, and plan, apply, destroy and drift reach every named one that ' +
      'their account may open (Docker, PostgreSQL with peer, systemd --user)'
    );
  return '';
}
