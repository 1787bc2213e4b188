interface StopSignal extends Promise<void> {
  /** Whether it has come already. */
  isSignalled(): boolean;
}

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once, without waiting. */
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
  });
  return Object.assign(signalled, { isSignalled: () => isStopping });
}
