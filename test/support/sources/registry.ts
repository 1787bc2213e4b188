/** A server on loopback that speaks the API of Ansible Galaxy for collections, and that of a registry of providers. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find } from '../tools.ts';
import { tarball, type TarEntry, zip } from './archives.ts';

/** Signs the digest of the archive below. Made for this test, and of no use elsewhere. */
const KEY_ID = '91E906C6995EC7B3';
const PUBLIC_KEY = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEZZIAgBYJKwYBBAHaRw8BAQdA9qhgZ+/QFV4l5SOWrrFHmOH99g0+A/5HeatG
VX3XCQm0DlRlc3Qgb2YgdmVuZG9yiJAEExYIADgWIQQHdpeOZfPQQuNcy9KR6QbG
mV7HswUCZZIAgAIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAKCRCR6QbGmV7H
s4EaAP9wwg3SoIitdyBxvqQFpMQas5hHVOzxdV2ulYjO7raeoAEA7DJTX+4nzxB1
mkbON5adViui/+Op8VTZyzzg2psW7gQ=
=iKDz
-----END PGP PUBLIC KEY BLOCK-----
`;
const SIGNATURE =
  'iHUEABYIAB0WIQQHdpeOZfPQQuNcy9KR6QbGmV7HswUCZZNSAQAKCRCR6QbGmV7HsxjVAP9NB4ePEqwOS38yh3DOa9Z4bXHHIXVrYG9eLBFcBKNK+' +
  'QEA8KZ2zeKE2GliUtOXHvb+Iqi3AHptALym1wvZip27kQo=';
/** No provider that could do anything: it is fetched, and installed from the mirror. */
const PROVIDER = zip('terraform-provider-demo_v1.0.0', Buffer.from('#!/bin/sh\nexit 1\n'));
const ARCHIVE = 'terraform-provider-demo_1.0.0_linux_amd64.zip';
const SHA256SUMS = `${hash('sha256', PROVIDER)}  ${ARCHIVE}\n`;

export interface Registry extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Paths that were asked for. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** Serves version 1.0.0 of collections, by name, with their files; and archives by path, such as those of roles. */
export async function startRegistry(
  collections: Readonly<Record<string, readonly TarEntry[]>>,
  files: Readonly<Record<string, Buffer>> = {},
): Promise<Registry> {
  const requests: string[] = [];
  let url = '';
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '').replace(/\/$/, '');
    requests.push(path);
    const answer = answerTo(path, url, collections, files);
    response.statusCode = answer === null ? 404 : 200;
    if (answer !== null && !Buffer.isBuffer(answer)) response.setHeader('content-type', 'application/json');
    response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, url, requests, close, [Symbol.asyncDispose]: close };
}

function answerTo(
  path: string,
  url: string,
  collections: Readonly<Record<string, readonly TarEntry[]>>,
  files: Readonly<Record<string, Buffer>>,
): object | null {
  const file = files[path];
  if (file !== undefined) return file;
  if (path === '/api') return { available_versions: { v3: 'v3/' } };
  const [, namespace = '', name = '', more = ''] = /^\/api\/v3\/collections\/(\w+)\/(\w+)\/(.+)$/.exec(path) ?? [];
  const entries = collections[`${namespace}.${name}`];
  if (entries !== undefined) {
    const archive = collectionArchive(namespace, name, entries);
    const download = `${url}/api/v3/collections/${namespace}/${name}/archive`;
    if (more === 'archive') return archive;
    const about = { version: '1.0.0', href: `/api/v3/collections/${namespace}/${name}/versions/1.0.0/` };
    if (more === 'versions') return { meta: { count: 1 }, links: { next: null }, data: [about] };
    return {
      ...about,
      namespace: { name: namespace },
      collection: { name },
      download_url: download,
      artifact: {
        filename: `${namespace}-${name}-1.0.0.tar.gz`,
        sha256: hash('sha256', archive),
        size: archive.length,
      },
      metadata: { dependencies: {} },
      signatures: [],
    };
  }
  return providerAnswer(path, url);
}

function providerAnswer(path: string, url: string): object | null {
  const platform = { os: 'linux', arch: 'amd64' };
  if (path === '/v1/providers/acme/demo/versions')
    return { versions: [{ version: '1.0.0', protocols: ['5.0'], platforms: [platform] }] };
  if (path === '/v1/providers/acme/demo/1.0.0/download/linux/amd64')
    return {
      ...platform,
      protocols: ['5.0'],
      filename: ARCHIVE,
      download_url: `${url}/${ARCHIVE}`,
      shasums_url: `${url}/SHA256SUMS`,
      shasums_signature_url: `${url}/SHA256SUMS.sig`,
      shasum: hash('sha256', PROVIDER),
      signing_keys: { gpg_public_keys: [{ key_id: KEY_ID, ascii_armor: PUBLIC_KEY }] },
    };
  const contents: Readonly<Record<string, Buffer>> = {
    [`/${ARCHIVE}`]: PROVIDER,
    '/SHA256SUMS': Buffer.from(SHA256SUMS),
    '/SHA256SUMS.sig': Buffer.from(SIGNATURE, 'base64'),
  };
  return contents[path] ?? null;
}

function collectionArchive(namespace: string, name: string, entries: readonly TarEntry[]): Buffer {
  const fileRows = entries.map(({ path, text }) => ({
    name: path,
    ftype: 'file',
    chksum_type: 'sha256',
    chksum_sha256: hash('sha256', text),
    format: 1,
  }));
  const root = { name: '.', ftype: 'dir', chksum_type: null, chksum_sha256: null, format: 1 };
  const list = JSON.stringify({ files: [root, ...fileRows], format: 1 });
  const manifest = JSON.stringify({
    collection_info: { namespace, name, version: '1.0.0', authors: [], dependencies: {}, license: [], tags: [] },
    file_manifest_file: {
      name: 'FILES.json',
      ftype: 'file',
      chksum_type: 'sha256',
      chksum_sha256: hash('sha256', list),
      format: 1,
    },
    format: 1,
  });
  return tarball([{ path: 'MANIFEST.json', text: manifest }, { path: 'FILES.json', text: list }, ...entries]);
}

/**
 * A folder for PATH with the terraform of this machine, which asks `registry` for the providers of localhost, only
 * where it mirrors them: a later run gets the configuration of the service.
 */
export function terraformFor(registry: Registry, folder: string): string {
  const name = find('terraform') === null ? 'tofu' : 'terraform';
  const services = `{ "providers.v1" = "${registry.url}/v1/providers/" }`;
  mkdirSync(folder, { mode: 0o755 });
  writeFileSync(
    join(folder, name),
    `#!/bin/sh
if [ "$1 $2" = "providers mirror" ]; then
  printf '%s\\n' 'host "localhost:${registry.port}" { services = ${services} }' > "$TMPDIR/registry.rc"
  export TF_CLI_CONFIG_FILE="$TMPDIR/registry.rc"
fi
exec ${find(name) ?? name} "$@"
`,
  );
  chmodSync(join(folder, name), 0o755);
  return `${folder}:${process.env['PATH'] ?? ''}`;
}
