/** The first file of the guest's checks: which of them run is a word of the kernel's command line. */
import { readFileSync } from 'node:fs';

const wanted = /\bchecks=(\w+)/.exec(readFileSync('/proc/cmdline', 'latin1'))?.[1] ?? '';
if (wanted === 'bare') await import('./bare.ts');
else for (const file of ['./unit.ts', './kernel.ts', './bounds.ts', './restarts.ts']) await import(file);
