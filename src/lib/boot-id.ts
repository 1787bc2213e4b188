import { readFileSync } from 'node:fs';

/** The boot of this machine, as the kernel names it; `unknown` where it does not. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
