import { isIP, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { ProbeDeps } from './deps.ts';
import { Down, type Finding } from './finding.ts';

interface Handshake {
  readonly socket: TLSSocket;
  /** `ok`, or what is wrong with the certificate. */
  readonly certificate: Required<Finding>;
}

const DAY_MS = 86_400_000;

interface Peer {
  readonly host: string;
  /** Whether the certificate has to be for this host. */
  readonly checkName: boolean;
  readonly protocols?: readonly string[];
}

/**
 * TLS over a connection. A certificate that is not valid does not end the handshake, so that its days are known: the
 * caller sends nothing before it has looked at `certificate`.
 */
export async function handshake(
  { clock, secureContext }: ProbeDeps,
  raw: Socket,
  { host, checkName, protocols }: Peer,
): Promise<Handshake> {
  const socket = connect({
    socket: raw,
    secureContext: secureContext(),
    rejectUnauthorized: false,
    ...(isIP(host) === 0 ? { servername: host } : { host }),
    ...(checkName ? {} : { checkServerIdentity: () => undefined }),
    ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new Down('tls_failed'));
    socket.once('secureConnect', resolve);
    socket.on('error', fail);
    socket.once('close', fail);
  });
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) throw new Down('tls_failed');
  const leftMs = leaf.validToDate.getTime() - clock.now();
  const certificateDays = Math.floor(leftMs / DAY_MS);
  return { socket, certificate: { detail: verdict(socket, leftMs), certificateDays } };
}

/** An expired certificate is called so whatever else is wrong with it: it is what its owner has to change first. */
function verdict(socket: TLSSocket, leftMs: number): Finding['detail'] {
  const code: unknown = socket.authorizationError;
  if (leftMs <= 0 || code === 'CERT_HAS_EXPIRED') return 'certificate_expired';
  return socket.authorized ? 'ok' : 'certificate_untrusted';
}
