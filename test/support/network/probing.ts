/** Probes of a test: they may reach loopback, and nothing else about them differs. */
import type { CheckKind, CheckOptions } from '../../../src/domain/checks/check.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { type ProbeDeps, probeDeps, type ProbeSeams } from '../../../src/probes/deps.ts';
import { probe, type ProbeResult } from '../../../src/probes/probe.ts';

interface TestProbes {
  readonly clock?: Clock;
  readonly ca?: readonly string[];
  readonly seams?: ProbeSeams;
}

const ANYWHERE = { allows: () => true, only: 'all' };

export function loopbackProbes({ clock = systemClock, ca = [], seams = {} }: TestProbes = {}): ProbeDeps {
  return probeDeps({ clock, ca }, { policy: ANYWHERE, ...seams });
}

const DEFAULTS: CheckOptions = {
  tcp: {},
  tls: { minDays: 0 },
  ping: {},
  http: { expect: 0, method: 'GET', expectBody: null },
  dns: { expectAddr: null },
  metric: { op: '>', value: 0, pointer: null },
};

/** A probe with the defaults of its kind. */
export function probeOnce<K extends CheckKind>(
  deps: ProbeDeps,
  kind: K,
  target: string,
  options: Partial<CheckOptions[K]> = {},
  signal = new AbortController().signal,
): Promise<ProbeResult> {
  return probe(deps, { kind, target, options: { ...DEFAULTS[kind], ...options } }, signal);
}
