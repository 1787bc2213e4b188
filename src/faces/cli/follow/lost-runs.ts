import { Failure } from '../../../domain/failure.ts';
import type { LostRun } from '../connection/client.ts';
import { placeFlags, type Session } from '../connection/session.ts';
import { line } from '../../text/safe.ts';

/** The interval of looks for a daemon that is gone, in milliseconds. */
const LOOK_MS = 1_500;
/** A daemon that restarts in place is gone for a moment, so one look is not enough. */
const LOOKS = 2;

/** After the text of an answer: jobs in it that only seem to run, and new ones that no daemon will take. */
export async function mentionGone(session: Session, { kind, text }: { kind: string; text: string }): Promise<void> {
  const { client, terminal } = session;
  const isNew = kind === 'job.enqueued';
  if (client.liveness === undefined || !(isNew || text.includes('"running"'))) return;
  const { alive, lost } = await client.liveness();
  if (isNew && alive === 0) terminal.stderr.write('No daemon runs, so no one takes the job: start svc serve.\n');
  if (isNew) return;
  for (const run of lost.filter(({ id }) => text.includes(id)))
    terminal.stderr.write(line(`${gone(run)} ${takenUp(session, run, alive)}`));
}

/**
 * Calls `end` when the daemon of a job is gone and no other one can mark the job, until the returned function is
 * called.
 */
export function watchDaemon(session: Session, id: string, end: (failure: Failure) => void): () => void {
  const { client } = session;
  const { clock } = session.terminal;
  if (client.liveness === undefined) return () => undefined;
  let looks = 0;
  let isOver = false;
  let cancel: () => void;
  const look = async (): Promise<void> => {
    const { alive, lost } = (await client.liveness?.()) ?? { alive: 0, lost: [] };
    const run = alive > 0 ? undefined : lost.find((each) => each.id === id);
    looks = run === undefined ? 0 : looks + 1;
    if (isOver) return;
    if (run === undefined || looks < LOOKS) cancel = clock.after(LOOK_MS, again);
    else end(new Failure('unavailable', `${gone(run)} ${takenUp(session, run, alive)}`));
  };
  // What cannot be read now is looked at again.
  const again = (): void =>
    void look().catch(() => {
      if (!isOver) cancel = clock.after(LOOK_MS, again);
    });
  cancel = clock.after(LOOK_MS, again);
  return () => {
    isOver = true;
    cancel();
  };
}

function gone({ id, node }: LostRun): string {
  return `Job ${id} is not running any more: its daemon${node === null ? '' : ` ${node}`} is gone.`;
}

function takenUp(session: Session, { id }: LostRun, alive: number): string {
  const who = alive > 0 ? 'Another daemon' : 'The next svc serve';
  return `${who} marks it interrupted; then svc job redrive ${id}${placeFlags(session)} queues it again.`;
}
