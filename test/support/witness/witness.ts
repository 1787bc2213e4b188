/**
 * What a job did, seen from outside the product: its tool appends lines to a file (witness-tool.sh). A sandboxed job
 * can write nowhere but its run directory, so jobs with a witness are queued as privileged; they take the same way
 * through claim, launch, supervision and rescue, only the sandbox's rules are left away.
 */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOOL = join(import.meta.dirname, 'witness-tool.sh');

export type WitnessMode = 'plain' | 'deaf' | 'stray' | 'quick-stray';

export interface WitnessLine {
  readonly what: 'start' | 'end' | 'overlap' | 'stray-end';
  readonly pid: number;
  readonly jobId: string;
  readonly key: string;
  /** Wall time, in milliseconds since the epoch. */
  readonly atMs: number;
}

export interface Witness {
  /** The words of a command that leaves a witness and runs for `seconds`. */
  command(key: string, seconds: number, mode?: WitnessMode): string[];
  /** Everything that was said, in the order in which it was. */
  lines(): WitnessLine[];
  starts(jobId: string): number;
}

/** `directory` is made; jobs that may run at a time need different keys, or they say `overlap`. */
export function createWitness(directory: string): Witness {
  mkdirSync(directory, { recursive: true });
  // The account of a job may not reach the checkout.
  const tool = join(directory, 'tool.sh');
  copyFileSync(TOOL, tool);
  const lines = (): WitnessLine[] => parseWitness(readIfThere(join(directory, 'witness')));
  return {
    command: (key, seconds, mode = 'plain') => ['/bin/sh', tool, directory, key, String(seconds), mode],
    lines,
    starts: (jobId) => lines().filter((line) => line.what === 'start' && line.jobId === jobId).length,
  };
}

/** A last line without its end was cut by a kill; it says nothing. */
export function parseWitness(text: string): WitnessLine[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [what = '', pid = '', jobId = '', key = '', nanoseconds = ''] = line.split(' ');
      return { what: what as WitnessLine['what'], pid: Number(pid), jobId, key, atMs: Number(nanoseconds) / 1e6 };
    });
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
