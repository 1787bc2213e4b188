/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, as an impatient person means it. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    const stop = (): void => {
      if (told) process.exit(1);
      told = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
