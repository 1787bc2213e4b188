/** Makes probes as the service does, and bare connections and requests as their floor. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { CheckKind, CheckOptions } from '../../src/domain/checks/check.ts';
import { allowsAddress } from '../../src/lib/ip/address.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { probeDeps } from '../../src/probes/deps.ts';
import { probe } from '../../src/probes/probe.ts';
import { inParallel } from '../../src/lib/flow/parallel.ts';
import { orders, say } from '../kit/child.ts';
import { monotonicMs } from '../kit/time.ts';
import type { ProbeOrder } from './probe-orders.ts';

/** Addresses of loopback: closed connections to a port of one address keep a port of this side for a minute. */
const ADDRESSES = 200;

const policy = {
  // Asked as for a real target; the answer would forbid loopback.
  allows: (address: string): boolean => typeof allowsAddress('probe', address) === 'boolean',
  only: 'all',
};
const deps = probeDeps({ clock: systemClock, ca: [] }, { policy });
const { signal } = new AbortController();

async function ask<K extends CheckKind>(kind: K, target: string, options: CheckOptions[K]): Promise<void> {
  const { up, detail } = await probe(deps, { kind, target, options }, signal);
  if (!up) throw new Error(`a probe of kind ${kind} is down: ${detail}`);
}

function bareConnection(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host, port, autoSelectFamily: false });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}

function bareRequest(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ host, port, agent: false }, (answer) => {
      answer.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}

const WAYS: Readonly<Record<ProbeOrder['way'], (host: string, port: number) => Promise<void>>> = {
  tcp: (host, port) => ask('tcp', `${host}:${port}`, {}),
  http: (host, port) => ask('http', `http://${host}:${port}/`, { expect: 0, method: 'GET', expectBody: null }),
  metric: (host, port) => ask('metric', `http://${host}:${port}/`, { op: '==', value: 5, pointer: null }),
  'bare-tcp': bareConnection,
  'bare-http': bareRequest,
};

for await (const { way, port, count, atATime } of orders<ProbeOrder>()) {
  const numbers = Array.from({ length: count }, (_, i) => i);
  const before = { ms: monotonicMs(), used: process.cpuUsage() };
  await inParallel(numbers, atATime, (i) => WAYS[way](`127.0.${i % ADDRESSES}.1`, port));
  const { user, system } = process.cpuUsage(before.used);
  say({ ms: monotonicMs() - before.ms, processorMs: (user + system) / 1_000 });
}
