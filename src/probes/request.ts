import type { IncomingMessage } from 'node:http';
import { authorizationOf } from '../dial/authorization.ts';
import { exchange } from '../dial/exchange.ts';
import { hostOf, portOf } from '../dial/guard.ts';
import type { ProbeDeps } from './deps.ts';
import { Down } from './finding.ts';
import { handshake } from './handshake.ts';

/** The longest body that is read. */
export const BODY_BYTES_MAX = 65_536;

interface Answer {
  readonly message: IncomingMessage;
  readonly status: number;
  /** What is known of the certificate, for the finding. */
  readonly seen: { readonly certificateDays?: number };
}

/** One request to a URL. A redirect is an answer: it is not followed. */
export async function request(
  deps: ProbeDeps,
  { url, method }: { readonly url: URL; readonly method: string },
  signal: AbortSignal,
): Promise<Answer> {
  const host = hostOf(url);
  const raw = await deps.connect(host, portOf(url), signal);
  const headers = { accept: '*/*', ...authorizationOf(url) };
  if (url.protocol !== 'https:') return answerOf(await exchange(raw, { method, url, headers }), {});
  const { socket, certificate } = await handshake(deps, raw, { host, checkName: true, protocols: ['http/1.1'] });
  if (certificate.detail !== 'ok') throw new Down(certificate);
  const { certificateDays } = certificate;
  return answerOf(await exchange(socket, { method, url, headers }), { certificateDays });
}

function answerOf(message: IncomingMessage, seen: Answer['seen']): Answer {
  return { message, status: message.statusCode ?? 0, seen };
}
