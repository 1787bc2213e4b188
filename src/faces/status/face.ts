import { Failure } from '../../domain/failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { BoardEntry } from '../../operations/checks/status-board.ts';
import { dataHeaders, type HeaderList } from '../http/headers.ts';
import type { Exchange } from '../http/sender.ts';
import { Listener, type ListenerOptions } from '../http/server.ts';
import { type Labelled, STATUS_HEADERS, statusPage } from './page.ts';

const EVERY_MS = 10_000;
/** What is older than this is not shown as a state of now. */
const OLD_MS = 60_000;
const NOT_FOUND: HeaderList = dataHeaders('text/plain; charset=utf-8');

interface StatusFaceOptions extends ListenerOptions {
  readonly clock: Clock;
  readonly checks: readonly { readonly name: string; readonly label: string }[];
  /** Reads the checks, in the order of `checks`. */
  readonly read: () => Promise<readonly BoardEntry[]>;
}

type StatusFace = Pick<Listener, 'listen' | 'close' | 'release'>;

/** The public listener: one page, made every 10 s and answered from memory to anyone. Everything else is 404. */
export function createStatusFace(options: StatusFaceOptions): StatusFace {
  const { clock, log } = options;
  let page = Buffer.alloc(0);
  let known: { readonly entries: readonly Labelled[]; readonly nowMs: number; readonly at: number } | null = null;
  let cancel: (() => void) | null = null;
  let isClosed = false;
  const listener = new Listener(options, clock, serve);

  function serve(exchange: Exchange): Promise<void> {
    const { method, url } = exchange.request;
    if ((method === 'GET' || method === 'HEAD') && url === '/')
      listener.sender.send(exchange, 200, STATUS_HEADERS, page);
    else listener.sender.send(exchange, 404, NOT_FOUND, 'Not found.\n');
    return Promise.resolve();
  }

  async function rebuild(): Promise<void> {
    try {
      const entries = labelled(options.checks, await options.read());
      known = { entries, nowMs: clock.now(), at: clock.monotonic() };
    } catch (error) {
      // The daemon logs that its database is lost.
      if (!(error instanceof Failure)) log.error({ err: error }, 'the status page was not renewed');
    }
    const isOld = known === null || clock.monotonic() - known.at > OLD_MS;
    const entries = isOld ? labelled(options.checks, []) : (known?.entries ?? []);
    page = Buffer.from(statusPage(entries, isOld ? clock.now() : (known?.nowMs ?? clock.now()), isOld));
    if (!isClosed) cancel = clock.after(EVERY_MS, () => void rebuild());
  }

  return {
    async listen(at) {
      await rebuild();
      return listener.listen(at);
    },
    release: (copy) => listener.release(copy),
    close(graceMs) {
      isClosed = true;
      cancel?.();
      return listener.close(graceMs);
    },
  };
}

/** A check without an entry is shown as unknown. */
function labelled(checks: StatusFaceOptions['checks'], entries: readonly BoardEntry[]): Labelled[] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return checks.map(({ name, label }) => {
    const { state, uptime } = byName.get(name) ?? { state: 'unknown', uptime: null };
    return { label, state, uptime };
  });
}
