/** Reads the stream of a job as a client does that resumes it whenever it ends. */
import type { Api } from '../api-client.ts';

interface ReadStream {
  /** The numbers of all events, in the order in which they arrived. */
  readonly numbers: readonly number[];
  readonly connections: number;
}

const EVENT = /^id: (\d+)\nevent: \w+\ndata: (.*)\n\n/gm;
const ENDED = ['succeeded', 'failed', 'cancelled', 'interrupted'];
const CONNECTIONS_MAX = 100;

/** Resolves after the event with the end of the job. `onOpen` is called with each answer. */
export async function readResumed(api: Api, jobId: string, onOpen: () => void): Promise<ReadStream> {
  const numbers: number[] = [];
  for (let connections = 1; connections <= CONNECTIONS_MAX; connections += 1) {
    const answer = await fetch(`${api.baseUrl}/jobs/${jobId}/stream?since=${numbers.at(-1) ?? 0}`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    if (answer.status !== 200) throw new Error(`the stream was answered with ${answer.status}`);
    onOpen();
    for (const [, number, data = ''] of (await answer.text()).matchAll(EVENT)) {
      numbers.push(Number(number));
      const { state } = JSON.parse(data) as { state?: string };
      if (state !== undefined && ENDED.includes(state)) return { numbers, connections };
    }
  }
  throw new Error(`the stream was resumed ${CONNECTIONS_MAX} times`);
}
