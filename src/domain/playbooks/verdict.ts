import type { RunEnd } from '../jobs/job.ts';
import type { Recap } from './results.ts';

interface RunFacts {
  /** How ansible-playbook ended; its exit code stays that of the job. */
  readonly end: { readonly reason: 'exited' | 'timeout' | 'cancelled' | 'refused'; readonly exitCode: number | null };
  readonly recap: Recap;
  readonly tolerateUnreachable: boolean;
}

/** The end of a run, and why it is not a success, as a sentence; null where the output says so already. */
export interface PlaybookVerdict extends RunEnd {
  readonly reason: string | null;
}

/**
 * The exit code of a run in which hosts could not be reached. It wins over failures, and a playbook that cannot be
 * parsed ends with it too, so it does not decide alone.
 */
const EXIT_UNREACHABLE = 4;

/** Decides the state of a job from the recap of its run; exit code 0 is no success where no host was reached. */
export function verdictOf({ end, recap, tolerateUnreachable }: RunFacts): PlaybookVerdict {
  const { exitCode } = end;
  const failed = (reason: string | null): PlaybookVerdict => ({ state: 'failed', exitCode, reason });
  if (end.reason === 'cancelled') return { state: 'cancelled', exitCode, reason: null };
  if (end.reason !== 'exited' || exitCode === null) return failed(null);
  if (exitCode === 0 && !recap.ended) return failed('ansible-playbook did not report the end of the run.');
  if (recap.ended && recap.plays === recap.playsWithoutHosts) return failed('No host matched.');
  if (recap.unreachable > 0 && recap.unreachable === recap.hosts) return failed('No host could be reached.');
  if (exitCode === 0) return { state: 'succeeded', exitCode, reason: null };
  if (recap.failed > 0 || recap.unreachable > 0) {
    if (tolerateUnreachable && onlyOffline(exitCode, recap))
      return { state: 'degraded', exitCode, reason: `${hosts(recap.unreachable)} could not be reached.` };
    return failed(reasonOf(recap));
  }
  return failed(null);
}

/** Whether some host succeeded, and nothing else is missing than the hosts that could not be reached. */
function onlyOffline(exitCode: number, recap: Recap): boolean {
  const isWhole = recap.ended && recap.playsLeft === 0 && recap.hostsLeft === 0;
  return exitCode === EXIT_UNREACHABLE && isWhole && recap.failed === 0 && recap.good > 0;
}

function reasonOf({ failed, unreachable, hostsLeft, playsLeft }: Recap): string {
  const parts = [
    failed > 0 ? `${hosts(failed)} failed` : null,
    unreachable > 0 ? `${hosts(unreachable)} could not be reached` : null,
    hostsLeft > 0 ? `${hosts(hostsLeft)} never began` : null,
    playsLeft > 0 ? `${playsLeft === 1 ? '1 play' : `${playsLeft} plays`} never began` : null,
  ];
  return `${parts.filter((part) => part !== null).join('; ')}.`;
}

function hosts(count: number): string {
  return count === 1 ? '1 host' : `${count} hosts`;
}
