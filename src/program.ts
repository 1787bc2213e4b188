import { main } from './faces/cli/main.ts';
import { holdProcess, systemClock } from './lib/clock.ts';
import { VERSION } from './version.ts';

/** 128 and the number of SIGPIPE: the usual exit code of a program whose reader has closed the pipe. */
const EXIT_PIPE = 141;

/** Runs the program and sets the exit code of the process. */
export async function runSvc(): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT_PIPE : 1));
  process.stderr.on('error', () => undefined);
  // The clock's timers keep no process alive, and a pause of the command line must not end it.
  const release = holdProcess();
  process.exitCode = await main({
    argv: process.argv.slice(2),
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    version: VERSION,
    app: () => import('./app.ts'),
    onInterrupt(listener, also = []) {
      const signals = ['SIGINT' as const, ...also];
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
  });
  release();
  // An open handle (an idle connection, a terminal's input) must not delay the exit.
  process.stdout.write('', () => process.exit());
}
