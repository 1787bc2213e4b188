/** Run in separate namespaces of network and mounts: dns checks whose name server answers nothing. Writes JSON. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemClock } from '../../../src/lib/clock.ts';
import { probeDeps } from '../../../src/probes/deps.ts';
import { startDnsServer } from './dns-server.ts';
import { prepareNetwork } from './own-network.ts';
import { probeOnce } from './probing.ts';

const PORT = 8_080;
const SILENT_CHECKS = 200;

/** What the story found. */
export interface SilentFindings {
  readonly details: readonly string[];
  readonly ms: number;
  readonly tcpMs: number;
}

async function main(): Promise<SilentFindings> {
  prepareNetwork();
  const server = createServer((socket) => socket.end()).listen(PORT, '::');
  await once(server, 'listening');
  const blackHole = await startDnsServer(new Proxy({}, { get: () => 'silent' }), { host: '127.0.0.1', port: 53 });
  const deps = probeDeps({ clock: systemClock, ca: [] });
  const began = systemClock.monotonic();
  const asked = Array.from({ length: SILENT_CHECKS }, (_, i) => probeOnce(deps, 'dns', `host${i}.test`));
  const tcp = await probeOnce(deps, 'tcp', `10.0.0.5:${PORT}`);
  const found = await Promise.all(asked);
  const ms = systemClock.monotonic() - began;
  await blackHole.close();
  deps.close();
  server.close();
  return { details: found.map(({ detail }) => detail), ms, tcpMs: tcp.durationMs };
}

process.stdout.write(JSON.stringify(await main()));
process.exit();
