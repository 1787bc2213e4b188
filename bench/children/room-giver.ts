/** Deletes the old events of a store as its daemon does, and gives the room back while others write. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { forgetOld, giveBack } from '../../src/daemon/maintenance/forget.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { AGED } from '../../src/store/old-rows.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { putEvents } from '../../test/support/fixtures/events.ts';
import { testKeyring } from '../../test/support/seal.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs, sleep } from '../kit/time.ts';

export interface RoomOrder {
  readonly file: string;
  readonly keptMs: number;
}

export interface RoomAnswer {
  /** Beside nothing else. */
  readonly floor: RoomFigures;
  readonly given: RoomFigures;
}

interface RoomFigures {
  readonly fullBytes: number;
  readonly endBytes: number;
  readonly tookMs: number;
  readonly longestPauseMs: number;
  readonly writes: number;
  readonly longestWriteMs: number;
  readonly p99WriteMs: number;
}

/** Between two writes, as a service of some use has them. */
const WRITE_EVERY_MS = 10;
const NS_PER_MS = 1e6;
/** A store that gives nothing back, for the figures beside. */
const QUIET_MS = 10_000;

for await (const order of orders<RoomOrder>()) say(await measure(order));

async function measure({ file, keptMs }: RoomOrder): Promise<RoomAnswer> {
  const store = await openStore({
    location: { file },
    clock: systemClock,
    daemonId: 'dmn_bench',
    keyring: testKeyring,
  });
  try {
    const own = { store, clock: systemClock, self: () => 'dmn_bench' };
    const floor = await beside(store, () => sleep(QUIET_MS));
    // Without its pauses: the deletions are not what is measured here.
    const hurried = { ...systemClock, after: (_ms: number, call: () => void) => systemClock.after(0, call) };
    await forgetOld({ ...own, clock: hurried }, AGED.events, keptMs, undefined);
    return { floor, given: await beside(store, () => giveBack(own, undefined)) };
  } finally {
    await store.close();
  }
}

/** What other writes and the event loop feel of some work. */
async function beside(store: Store, work: () => Promise<void>): Promise<RoomFigures> {
  const size = async (): Promise<number> => (await store.dialect.fileSize(store.db)).bytes;
  const fullBytes = await size();
  const tookMs: number[] = [];
  const over = new AbortController();
  const writing = (async () => {
    while (!over.signal.aborted) {
      const began = monotonicMs();
      await putEvents(store, [{}]);
      tookMs.push(monotonicMs() - began);
      await sleep(WRITE_EVERY_MS);
    }
  })();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const began = monotonicMs();
  delays.enable();
  await work();
  delays.disable();
  over.abort();
  await writing;
  const sorted = tookMs.toSorted((a, b) => a - b);
  return {
    fullBytes,
    endBytes: await size(),
    tookMs: monotonicMs() - began,
    longestPauseMs: delays.max / NS_PER_MS,
    writes: sorted.length,
    longestWriteMs: sorted.at(-1) ?? 0,
    p99WriteMs: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}
