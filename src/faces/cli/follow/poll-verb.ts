import type { Failure } from '../../../domain/failure.ts';
import { line } from '../../text/safe.ts';
import { type Answer, readData } from '../connection/client.ts';
import { type Session, showData } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { write } from '../terminal.ts';
import { EXIT_INTERRUPTED } from './follow.ts';
import { pollUntil } from './polling.ts';
import { watchUnclaimed } from './unclaimed/watch-unclaimed.ts';
import type { NeededDaemon } from './unclaimed/reason.ts';

/** What an answer means: the wait is over, perhaps with these words, or it continues with them. */
type Looked = { readonly over: true; readonly words?: string } | { readonly over: false; readonly words: string };

interface PolledVerb {
  /** The verb that reads, with the fields of the one that was called. */
  readonly path: string;
  /** On the monotonic clock. */
  readonly deadline: number;
  /** The daemon that it needs, from the last answer, and what becomes of it without one. */
  readonly needs: (data: Answer['data']) => NeededDaemon;
  readonly effect: string;
  /** Throws what ends the wait without success; `late` where the deadline has passed. */
  readonly look: (data: Answer['data'], late: boolean) => Looked;
}

/**
 * Polls a verb, from an answer that it has given, until the wait is over, and shows that. Each change of the words is a
 * line on standard error. Resolves to the exit code.
 */
export async function pollVerb(
  session: Session,
  answered: Answer,
  { path, deadline, look, needs, effect }: PolledVerb,
): Promise<number> {
  const { client, fields, options, terminal } = session;
  const { call } = operationVerb(TREE, path);
  const stop = new AbortController();
  const restore = terminal.onInterrupt(() => stop.abort());
  let [latest, shown]: [Answer | null, string] = [answered, ''];
  let last = answered.data;
  const daemon = { failure: null as Failure | null };
  const awaited = { effect, advice: '', busy: null, needs: () => Promise.resolve([needs(last)]) };
  const unwatch = watchUnclaimed(session, awaited, (failure) => {
    daemon.failure = failure;
    stop.abort();
  });
  try {
    const end = await pollUntil({ clock: terminal.clock, deadline, signal: stop.signal }, async () => {
      const answer = latest ?? (await readData(await client.call(call, fields)));
      latest = null;
      last = answer.data;
      const looked = look(answer.data, terminal.clock.monotonic() >= deadline);
      const { over, words = shown } = looked;
      const isNew = words !== shown;
      shown = words;
      if (isNew) terminal.stderr.write(line(words));
      if (over) return answer;
      return isNew ? 'changed' : 'again';
    });
    if (daemon.failure !== null) throw daemon.failure;
    if (end === null) return EXIT_INTERRUPTED;
    if (options.output === 'json') await write(terminal.stdout, end.text);
    else await showData(session, end);
    return 0;
  } finally {
    unwatch();
    restore();
  }
}

/** `1 job runs`, `2 jobs run`. */
export function jobsRun(count: number): string {
  return `${count} ${count === 1 ? 'job runs' : 'jobs run'}`;
}
