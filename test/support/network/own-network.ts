/** The network of a story that runs in separate namespaces of network and mounts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' });
}

/** Two private addresses on the loopback device, and a name server that the story starts at 127.0.0.1. */
export function prepareNetwork(): void {
  ip('link', 'set', 'lo', 'up');
  for (const address of ['10.0.0.5/32', 'fd00::5/128']) ip('address', 'add', address, 'dev', 'lo');
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-namespace-'));
  const file = join(dir, 'resolv.conf');
  writeFileSync(file, 'nameserver 127.0.0.1\nsearch lan.test\n');
  execFileSync('mount', ['--bind', file, '/etc/resolv.conf']);
  rmSync(dir, { recursive: true });
}
