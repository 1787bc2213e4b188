import type { IncomingMessage } from 'node:http';
import type { ProbeDetail } from '../domain/checks/check.ts';
import { authorizationOf } from '../dial/authorization.ts';
import { exchange } from '../dial/exchange.ts';
import { portOf } from '../dial/guard.ts';
import { hostOfUrl } from '../lib/host-port.ts';
import { readText } from './body.ts';
import type { ProbeDeps } from './deps.ts';
import { Down, downBy, type Finding } from './finding.ts';
import { handshake } from './handshake.ts';

interface Answer {
  readonly status: number;
  /** The parts of the body as text. Ends with a `Down`: with `unreadable` where the body is no text. */
  readonly text: (unreadable: ProbeDetail) => AsyncIterable<string>;
}

/** One request to a URL, and what `judge` finds in the answer. A redirect is an answer: it is not followed. */
export async function request(
  deps: ProbeDeps,
  { url, method }: { readonly url: URL; readonly method: string },
  judge: (answer: Answer) => Promise<ProbeDetail>,
  signal: AbortSignal,
): Promise<Finding> {
  const host = hostOfUrl(url);
  const raw = await deps.connect(host, portOf(url), signal);
  const headers = { accept: '*/*', ...authorizationOf(url) };
  if (url.protocol !== 'https:') return { detail: await judge(await answerOf(raw, 'unreachable')) };
  const { socket, certificate } = await handshake(deps, raw, { host, checkName: true, protocols: ['http/1.1'] });
  if (certificate.detail !== 'ok') return certificate;
  const { certificateDays } = certificate;
  try {
    return { detail: await judge(await answerOf(socket, 'tls_failed')), certificateDays };
  } catch (error) {
    if (error instanceof Down) return { detail: error.detail, certificateDays };
    throw error;
  }

  /** `otherwise`: what an error says that has no word. */
  async function answerOf(socket: typeof raw, otherwise: ProbeDetail): Promise<Answer> {
    const message = await exchange(socket, { method, url, headers }).catch((error: unknown) => {
      throw downBy(error, otherwise);
    });
    return {
      status: message.statusCode ?? 0,
      text: (unreadable) => readText(message.headers, chunksOf(message, otherwise), unreadable),
    };
  }
}

async function* chunksOf(message: IncomingMessage, otherwise: ProbeDetail): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw downBy(error, otherwise);
  }
}
