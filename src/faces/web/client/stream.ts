/** One stream of the service, read by `fetch`: EventSource tells neither the status of a refusal nor when to retry. */
import { EventReader, type ServerEvent } from './event-stream.ts';

/** The service sends something each 15 s; after this time without it the connection is lost. */
const SILENCE_MS = 45_000;
/** Where a refusal does not say when to try again. */
const RETRY_MS = 30_000;
export const SIGNED_OUT = 'Signed out: reload the page to sign in';

type Ending =
  | { readonly is: 'full'; readonly waitMs: number }
  /** `refused`: this visitor does not get it, now or later. */
  | { readonly is: 'signed out' | 'refused' | 'lost' };

interface Reader {
  readonly opened: () => void;
  readonly take: (event: ServerEvent) => void;
}

/** Reads until the stream ends. `lost` is every end that the service did not explain, and that of `signal`. */
export async function readStream(url: string, signal: AbortSignal, { opened, take }: Reader): Promise<Ending> {
  const silence = new AbortController();
  let timer = 0;
  const heard = (): void => {
    clearTimeout(timer);
    timer = window.setTimeout(() => silence.abort(), SILENCE_MS);
  };
  heard();
  try {
    const both = AbortSignal.any([signal, silence.signal]);
    const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: both });
    const refusal = refusalOf(response);
    if (refusal !== null) {
      await response.body?.cancel();
      return refusal;
    }
    const parts = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const reader = new EventReader();
    opened();
    for (;;) {
      const part = await parts?.read();
      if (part?.value === undefined) return { is: 'lost' };
      heard();
      for (const event of reader.read(part.value)) take(event);
    }
  } catch (error) {
    if (isFault(error)) console.error(error);
    return { is: 'lost' };
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function refusalOf({ status, ok, headers }: Response): Ending | null {
  if (status === 401) return { is: 'signed out' };
  if (status === 503) return { is: 'full', waitMs: (Number(headers.get('retry-after')) || RETRY_MS / 1_000) * 1_000 };
  if (status === 403 || status === 404) return { is: 'refused' };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return ok && isStream ? null : { is: 'lost' };
}

/** A lost connection is shown on the page; anything else is a fault of this script. */
export function isFault(error: unknown): boolean {
  return !(error instanceof TypeError) && !(error instanceof DOMException);
}

/** Ends early where `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
