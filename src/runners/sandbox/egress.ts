import { LANDLOCK_ABI_OF_PORTS } from './kernel/landlock.ts';
import type { SandboxPolicy } from './policy.ts';

/** What decides which network a sandboxed program gets. */
export interface EgressFacts {
  /** The ABI of the kernel's Landlock, at least 1. */
  readonly abi: number;
  /** Whether the program runs as another account than this process. */
  readonly isOtherAccount: boolean;
  /** Whether the operator accepts that programs reach ports that they were not given. */
  readonly allowUnfilteredEgress: boolean;
}

/** `refusal` says why the program must not start; `note` what it gets besides, or lacks, compared with its policy. */
type Egress =
  | { readonly refusal: string }
  | { readonly refusal: null; readonly connectPorts: SandboxPolicy['connectPorts']; readonly note: string | null };

const TOO_OLD = `this kernel cannot limit TCP to ports (Landlock ABI ${LANDLOCK_ABI_OF_PORTS}, Linux 6.7)`;

const SHARED_ACCOUNT =
  `${TOO_OLD}, so sandboxed programs run only as another account than that of the service: start svc serve as root, ` +
  'without --job-user root, or with --job-user and CAP_SETUID, CAP_SETGID and CAP_KILL, or use Linux 6.7';

const REFUSED = `${TOO_OLD}: start svc serve with --allow-unfiltered-egress to let programs reach every port instead`;

const OFFLINE =
  'This kernel cannot limit TCP to ports (Landlock below ABI 4, Linux 6.7): this program has no internet sockets, so ' +
  'no connection and no name resolution works.';

const REACHES_ALL =
  'This kernel cannot limit TCP to ports (Landlock below ABI 4, Linux 6.7): this program reaches every port ' +
  '(--allow-unfiltered-egress).';

/**
 * The network that the kernel can enforce for a program. Where it cannot limit TCP to ports, another account keeps a
 * program from what belongs to the service; without one it is refused.
 */
export function egressOf(policy: SandboxPolicy, { abi, isOtherAccount, allowUnfilteredEgress }: EgressFacts): Egress {
  const { connectPorts, unfiltered = 'refused', needsOwnAccount = false } = policy;
  const asAsked = { refusal: null, connectPorts, note: null };
  if (abi >= LANDLOCK_ABI_OF_PORTS) return asAsked;
  if (!isOtherAccount && !needsOwnAccount) return { refusal: SHARED_ACCOUNT };
  if (typeof connectPorts === 'string') return asAsked;
  if (unfiltered === 'offline') return { refusal: null, connectPorts: 'none', note: OFFLINE };
  if (unfiltered === 'any') return { ...asAsked, connectPorts: 'any' };
  return allowUnfilteredEgress ? { refusal: null, connectPorts: 'any', note: REACHES_ALL } : { refusal: REFUSED };
}
