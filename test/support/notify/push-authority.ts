/** A certificate authority of a test, made with openssl: nothing of it is trusted anywhere else. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ending } from '../fixtures/installation.ts';

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

/** OpenSSL from 3.4 on takes times; the versions before take none, but a number of days that is negative. */
function expiredOptions(): readonly string[] {
  const { stderr } = spawnSync('openssl', ['x509', '-help'], { encoding: 'utf8' });
  const times = ['-not_before', '20240101000000Z', '-not_after', '20240102000000Z'];
  return stderr.includes('-not_after') ? times : ['-days', '-1'];
}

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

export interface Authority {
  /** What a client has to trust, and the file with it. */
  readonly ca: Buffer;
  readonly caFile: string;
  /** For these names and addresses; one that is expired was never valid. */
  certificate(names: readonly string[], options?: { expired?: boolean }): Certificate;
}

export function createAuthority(ending: Ending): Authority {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-authority-'));
  ending.after(async () => rmSync(dir, { recursive: true, force: true }));
  const file = (name: string): string => join(dir, name);
  const [key, caFile] = [file('ca.key'), file('ca.pem')];
  openssl('req', '-x509', ...EC, '-keyout', key, '-out', caFile, '-days', '2', '-subj', '/CN=Test authority');
  let made = 0;
  return {
    ca: readFileSync(caFile),
    caFile,
    certificate(names, { expired = false } = {}) {
      made += 1;
      const [own, request, cert, extensions] = [
        file(`${made}.key`),
        file(`${made}.csr`),
        file(`${made}.pem`),
        file(`${made}.txt`),
      ];
      writeFileSync(
        extensions,
        `subjectAltName=${names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',')}\n`,
      );
      openssl('req', '-new', ...EC, '-keyout', own, '-out', request, '-subj', `/CN=${names[0] ?? ''}`);
      const signer = ['-CA', caFile, '-CAkey', key, '-set_serial', String(made), '-extfile', extensions];
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        ...signer,
        '-out',
        cert,
        ...(expired ? expiredOptions() : ['-days', '1']),
      );
      return { key: readFileSync(own), cert: readFileSync(cert) };
    },
  };
}
