import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../operations/views/views.ts';
import { line } from '../../text/safe.ts';
import { type Answer, readData } from '../connection/client.ts';
import { type Session, showData } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { write } from '../terminal.ts';
import { EXIT_INTERRUPTED } from './follow.ts';
import { pollUntil } from './polling.ts';

type Readiness = Projected<'maintenance.readiness'>;

/**
 * Polls until a reboot interrupts no job, and shows that. Each change of the number of running jobs is a line on
 * standard error. Resolves to 0; throws `conflict` without a cordon, because new jobs start all the time, and
 * `unavailable` at the `deadline`, which is on the monotonic clock.
 */
export async function waitUntilSafe(session: Session, answered: Answer, deadline: number): Promise<number> {
  const { client, fields, options, terminal } = session;
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  const read = async (): Promise<Answer> =>
    readData(await client.call(operationVerb(TREE, 'maintenance readiness').call, fields));
  let [latest, shown]: [Answer | null, number] = [answered, 0];
  try {
    const safe = await pollUntil({ clock: terminal.clock, deadline, signal: stop.signal }, async () => {
      const answer = latest ?? (await read());
      latest = null;
      const { cordoned, in_flight: running, safe_to_reboot: isSafe } = answer.data as Readiness;
      if (isSafe) return answer;
      if (!cordoned)
        throw new Failure('conflict', 'Not cordoned, so new jobs start; run svc maintenance cordon first.');
      const jobs = `${running} ${running === 1 ? 'job runs' : 'jobs run'}`;
      if (terminal.clock.monotonic() >= deadline) throw new Failure('unavailable', `Not safe to reboot: ${jobs}.`);
      if (running === shown) return 'again';
      terminal.stderr.write(line(`Waiting: ${jobs}.`));
      shown = running;
      return 'changed';
    });
    if (safe === null) return EXIT_INTERRUPTED;
    if (options.output === 'json') await write(terminal.stdout, safe.text);
    else await showData(session, safe);
    return 0;
  } finally {
    restore();
  }
}
