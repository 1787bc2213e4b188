import { closeSync } from 'node:fs';
import { running } from './current.ts';

/** How to forget each descriptor of a daemon, which the kernel closes when that is killed. */
const owned = new Map<number, () => void>();

/** It is one of the daemon whose code runs. */
export function own(fd: number): number {
  const handles = running()?.host.handles;
  const handle = {
    close(): void {
      disown(fd);
      closeSync(fd);
    },
  };
  handles?.add(handle);
  owned.set(fd, () => void handles?.delete(handle));
  return fd;
}

/** To be called before it is closed. */
export function disown(fd: number): void {
  owned.get(fd)?.();
  owned.delete(fd);
}
