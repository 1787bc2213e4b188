import { Failure } from '../../domain/failure.ts';
import { holdProcess, pause } from '../../lib/clock.ts';
import { isAliveOf } from './liveness.ts';
import type { Reload } from './services.ts';
import type { Services } from '../core/services.ts';
import { reloadAnswerOf, requestReload } from '../../store/maintenance/reloads.ts';
import { listRestartable } from '../../store/maintenance/restarts.ts';
import type { Store } from '../../store/store.ts';

const LOOK_MS = 50;
/** A daemon that has just started first reads the files of its program. */
const ANSWER_WITHIN_MS = 30_000;

interface Parts {
  readonly store: Store;
  readonly services: Pick<Services, 'clock' | 'lockSeenAt' | 'programs'>;
}

/**
 * Asks the daemon of this machine, by its row of the store, to read its settings again. Throws what it answers, and
 * `unavailable` and `conflict` where no daemon answers or several run.
 */
export async function reloadDaemon(parts: Parts): Promise<Reload> {
  const { store, services } = parts;
  const isAlive = await isAliveOf(parts);
  const { host, bootId } = services.programs.here;
  const [daemon, ...others] = (await listRestartable(store.db, null)).filter(
    (each) => each.host === host && each.boot_id === bootId && isAlive(each),
  );
  if (daemon === undefined) throw new Failure('unavailable', 'No daemon runs on this machine.');
  if (others.length > 0)
    throw new Failure(
      'conflict',
      `${others.length + 1} daemons run on this machine; use --remote with the URL of one.`,
    );
  await store.write((tx) => requestReload(tx, daemon.node));
  const release = holdProcess();
  const answer = await waitForAnswer(parts, daemon.node).finally(release);
  if ('code' in answer) throw new Failure(answer.code, answer.message);
  // The daemon has done it.
  return { ...answer, write: () => Promise.resolve() };
}

async function waitForAnswer({ store, services: { clock } }: Parts, node: string) {
  const until = clock.monotonic() + ANSWER_WITHIN_MS;
  for (;;) {
    const answer = await reloadAnswerOf(store.db, node);
    if (answer !== null) return answer;
    if (clock.monotonic() >= until) throw new Failure('unavailable', `The daemon "${node}" has not answered.`);
    await pause(clock, LOOK_MS);
  }
}
