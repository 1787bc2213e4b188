/** Follows a job over server-sent events, as any client would. */
import { get, type IncomingMessage } from 'node:http';
import type { Daemon } from './daemon.ts';

export interface StreamedEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Opens the stream and answers once its head has come. */
export function openStream(
  daemon: Daemon,
  jobId: string,
  headers: Readonly<Record<string, string>>,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = get(daemon.url(`/jobs/${jobId}/stream`), { headers, agent: false }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`the stream of ${jobId} answered ${String(response.statusCode)}`));
    });
    request.once('error', reject);
  });
}

/** Hands each event on as it comes, until the stream ends. */
export async function readStream(response: IncomingMessage, take: (event: StreamedEvent) => void): Promise<void> {
  let rest = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const blocks = (rest + chunk.toString()).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      if (event !== undefined) take({ event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null') });
    }
  }
}
