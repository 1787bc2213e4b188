import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { allowsAddress } from '../lib/ip/address.ts';
import { type AddressPolicy, type Connect, connector } from '../dial/guard.ts';
import { nameServers } from '../dial/name-servers.ts';
import type { Resolve } from '../dial/resolve.ts';
import { probeResolver } from '../dial/resolver.ts';
import type { Clock } from '../lib/clock.ts';
import { Limiter } from '../lib/flow/limiter.ts';
import { openFilesLimit } from './open-files.ts';
import { ownAddresses } from './own-addresses.ts';
import { type Ping, pinger } from './ping/pinger.ts';

/** What probes work with. All of them share one. */
export interface ProbeDeps {
  readonly clock: Clock;
  readonly connect: Connect;
  /** The name servers of the machine. */
  readonly ask: Resolve;
  readonly secureContext: () => SecureContext;
  readonly ping: Ping;
  /** Probes that run at a time; the others wait. */
  readonly running: Limiter;
  readonly close: () => void;
}

interface ProbeOptions {
  readonly clock: Clock;
  /** Certificates of `--check-ca-file`, as PEM. They are trusted beside the public ones. */
  readonly ca: readonly string[];
  /** `--check-refuse-own-addresses`. */
  readonly refuseOwn?: boolean;
}

/** Replaced by tests, which may reach no address that a probe may. */
export interface ProbeSeams {
  readonly policy?: AddressPolicy;
  readonly ask?: Resolve;
  readonly resolve?: Resolve;
}

const POLICY: AddressPolicy = {
  allows: (address) => allowsAddress('probe', address),
  only: 'only addresses of the network',
};

/** The same without the addresses of this machine's own interfaces. */
function othersOnly(clock: Clock): AddressPolicy {
  const isOwn = ownAddresses(clock);
  return { allows: (address) => POLICY.allows(address) && !isOwn(address), only: 'only addresses of other machines' };
}

/** Two rounds at one name server take 4.5 s, and all of them together less than a probe has. */
const NAME_LIMITS = { timeoutMs: 1_500, tries: 2, totalMs: 8_000 };
/** Enough for 400 new probes a second of targets that are silent until the end. */
const RUNNING_MAX = 4_096;
/** The service needs descriptors for other things too. */
const OPEN_FILES_SHARE = 4;

export function probeDeps({ clock, ca, refuseOwn = false }: ProbeOptions, seams: ProbeSeams = {}): ProbeDeps {
  const ask = seams.ask ?? nameServers(clock, NAME_LIMITS);
  const resolve = seams.resolve ?? probeResolver({ ask, clock });
  const policy = seams.policy ?? (refuseOwn ? othersOnly(clock) : POLICY);
  const { ping, close } = pinger(clock, policy);
  let context: SecureContext | null = null;
  return {
    clock,
    ask,
    connect: connector({ resolve, policy, clock }),
    // Reading all the certificates takes longer than a handshake.
    secureContext: () => (context ??= createSecureContext({ ca: [...getCACertificates('default'), ...ca] })),
    ping,
    close,
    running: new Limiter({
      running: Math.min(RUNNING_MAX, Math.ceil(openFilesLimit() / OPEN_FILES_SHARE)),
      waiting: Number.POSITIVE_INFINITY,
    }),
  };
}
