import { processEnvironment } from '../../config/settings/settings.ts';
import { systemClock } from '../../lib/clock.ts';
import { stopWithNpm } from './npm-shell.ts';

interface StopSignal extends Promise<void> {
  /** Whether it has come already. */
  isSignalled(): boolean;
}

/**
 * Resolves at the first SIGINT or SIGTERM, and when npm, which runs this program, has ended. A second signal ends the
 * process at once, without waiting.
 */
export function untilStopSignal(): StopSignal {
  let isStopping = false;
  const signalled = new Promise<void>((resolve) => {
    const stop = (): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
    // After a signal to the whole group both have come, and this is no second one.
    stopWithNpm(processEnvironment(), systemClock, () => {
      if (!isStopping) stop();
    });
  });
  return Object.assign(signalled, { isSignalled: () => isStopping });
}
