/** How often it is looked for the end of npm, in milliseconds. */
const LOOK_MS = 500;

/**
 * Calls `stop` when npm, which started this process, has ended. npm passes on SIGTERM alone: at SIGHUP it ends, and
 * nothing reaches this process, unless a terminal sends the signal to both. Does nothing without npm.
 */
export function whenNpmEnds(stop: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const npm = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(look);
    stop();
  }, LOOK_MS);
  look.unref();
}
