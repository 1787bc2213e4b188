import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { VERSION } from '../../src/version.ts';

export const MACHINE_KEYS = ['date', 'cores', 'memory', 'kernel', 'node', 'gatehouse', 'load before'] as const;
export type Machine = Readonly<Record<(typeof MACHINE_KEYS)[number], string>>;

const GIB = 1024 ** 3;

/** What the figures were measured on. It names the size of the machine, not the machine. */
export function thisMachine(): Machine {
  const load = (loadavg()[0] ?? 0).toFixed(1);
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: `${availableParallelism()} (${cpus()[0]?.model ?? 'unknown'})`,
    memory: `${(totalmem() / GIB).toFixed(0)} GiB`,
    kernel: `${type()} ${release()}`,
    node: process.version,
    gatehouse: VERSION,
    'load before': `${load} (a quiet machine has less than 0.5; with more, look at the ratios only)`,
  };
}
