/**
 * Run in separate namespaces of network and mounts: probes with the wiring of the service against addresses that they
 * may reach. Writes what they found as JSON.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { Server } from 'node:net';
import { Failure } from '../../../src/domain/failure.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { probeDeps } from '../../../src/probes/deps.ts';
import type { ProbeResult } from '../../../src/probes/probe.ts';
import { needs } from '../tools.ts';
import { startDnsServer } from './dns-server.ts';
import { prepareNetwork } from './own-network.ts';
import { probeOnce } from './probing.ts';

const PORT = 8_080;
/** What the story found. */
export interface NamespaceFindings {
  readonly reached: Readonly<Record<string, string>>;
  readonly ping: Readonly<Record<string, string>>;
  /** Null where the program is missing. */
  readonly pingByProgram: Readonly<Record<string, string>> | null;
  /** The code of the failure where there is neither a socket nor a program. */
  readonly pingByNeither: string;
}

function allowPing(groups: string): void {
  writeFileSync('/proc/sys/net/ipv4/ping_group_range', groups);
}

async function details(probes: Readonly<Record<string, Promise<ProbeResult>>>): Promise<Record<string, string>> {
  const entries = Object.entries(probes).map(async ([name, probe]) => [name, (await probe).detail] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function byNeither(): Promise<string> {
  const others = probeDeps({ clock: systemClock, ca: [] });
  for (const path of ['/usr/bin/ping', '/bin/ping', '/usr/sbin/ping', '/sbin/ping'])
    if (existsSync(path)) execFileSync('mount', ['--bind', '/dev/null', path]);
  const failure: unknown = await probeOnce(others, 'ping', '10.0.0.5').catch((error: unknown) => error);
  return failure instanceof Failure ? failure.code : 'none';
}

async function main(): Promise<NamespaceFindings> {
  prepareNetwork();
  const server: Server = createHttp((_request, response) => response.end('5')).listen(PORT, '::');
  await once(server, 'listening');
  const names = await startDnsServer(
    { 'both.test': ['10.0.0.5', 'fd00::5'], 'web.lan.test': ['fd00::5'], 'first.test': ['10.0.0.6', 'fd00::5'] },
    { host: '127.0.0.1', port: 53 },
  );
  const deps = probeDeps({ clock: systemClock, ca: [] });
  const pings = (): Promise<Record<string, string>> =>
    details({
      four: probeOnce(deps, 'ping', '10.0.0.5'),
      six: probeOnce(deps, 'ping', 'fd00::5'),
      noWay: probeOnce(deps, 'ping', '10.9.9.9'),
      loopback: probeOnce(deps, 'ping', '127.0.0.1'),
    });
  const reached = await details({
    tcp: probeOnce(deps, 'tcp', `10.0.0.5:${PORT}`),
    mapped: probeOnce(deps, 'tcp', `[::ffff:10.0.0.5]:${PORT}`),
    six: probeOnce(deps, 'tcp', `[fd00::5]:${PORT}`),
    closed: probeOnce(deps, 'tcp', '10.0.0.5:8081'),
    noWay: probeOnce(deps, 'tcp', `10.9.9.9:${PORT}`),
    loopback: probeOnce(deps, 'tcp', `127.0.0.1:${PORT}`),
    http: probeOnce(deps, 'http', `http://both.test:${PORT}/`),
    searched: probeOnce(deps, 'http', `http://web:${PORT}/`),
    second: probeOnce(deps, 'metric', `http://first.test:${PORT}/`),
    dns: probeOnce(deps, 'dns', 'both.test', { expectAddr: 'fd00::5' }),
    unknown: probeOnce(deps, 'dns', 'none.test'),
  });
  // A new network grants no socket. With one group in the namespace nothing takes such a grant back.
  const pingByProgram = needs('ping') === false ? await byProgram() : null;
  const pingByNeither = await byNeither();
  allowPing('0 0');
  const ping = await pings();
  await names.close();
  deps.close();
  server.close();
  return { reached, ping, pingByProgram, pingByNeither };

  async function byProgram(): Promise<Record<string, string>> {
    const others = probeDeps({ clock: systemClock, ca: [] });
    return details({
      four: probeOnce(others, 'ping', '10.0.0.5'),
      six: probeOnce(others, 'ping', 'fd00::5'),
      noWay: probeOnce(others, 'ping', '10.9.9.9'),
    });
  }
}

process.stdout.write(JSON.stringify(await main()));
process.exit();
