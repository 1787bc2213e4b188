/** What hostile servers say, hostile URLs and refs, and repositories in files. */
import { appendFileSync, rmSync, symlinkSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Hostile, sent, stored } from './corpus.ts';
import { Objects, writeBelow } from './objects.ts';
import { FLUSH, line, refList } from './server.ts';

const FAILED = /git fetch failed/;
const plain = (objects: Objects): string => objects.commit(objects.tree(['100644', 'f', objects.blob()]));

/** One that answers the first question like this. */
const answering = (
  name: string,
  expected: Hostile['expected'],
  refs: (response: ServerResponse, tip: string) => void,
): Hostile =>
  sent(`server: ${name}`, expected, plain, (_objects, tip) => ({ refs: (response) => refs(response, tip) }));
const leading = (name: string, to: string): Hostile =>
  answering(name, FAILED, (response) => response.writeHead(302, { location: to }).end());

const askedForAnother: Hostile['build'] = ({ server }) => {
  const objects = new Objects();
  const tip = plain(objects);
  return { url: server.serve({ tip, shallow: tip, pack: objects.pack() }), ref: 'cd'.repeat(20) };
};

export const SERVERS: readonly Hostile[] = [
  leading('leads to another port', 'http://127.0.0.1:9/x/info/refs?service=git-upload-pack'),
  leading('leads to another path', '/stray/info/refs?service=git-upload-pack'),
  leading('leads to the metadata of a cloud', 'http://169.254.169.254/latest/info/refs?service=git-upload-pack'),
  leading('leads to a file', 'file:///etc/passwd'),
  leading('leads to a command', 'ext::sh -c touch% x'),
  answering('asks for a password', FAILED, (response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
  ),
  answering('sends an error with escape sequences', FAILED, (response) =>
    response.end(
      Buffer.concat([line('# service=git-upload-pack\n'), FLUSH, line('ERR \u001b[2J\u001b]0;x\u0007no\n')]),
    ),
  ),
  answering('sends no list of refs', FAILED, (response) => response.end('x'.repeat(10_000))),
  answering('sends an invalid length', FAILED, (response) =>
    response.end(Buffer.concat([line('# service=git-upload-pack\n'), FLUSH, Buffer.from('zzzz')])),
  ),
  answering('sends refs of 100 MB', FAILED, (response, tip) => endless(response, tip)),
  answering('refs that look like options', ['f'], (response, tip) =>
    response.end(
      refList(
        ['HEAD', tip],
        ['refs/heads/--upload-pack=touch x', tip],
        ['refs/heads/main', tip],
        ['refs/heads/-u', tip],
      ),
    ),
  ),
  answering('refs with odd characters', /git fetch failed|^f$/, (response, tip) =>
    response.end(
      refList(['HEAD', tip], ['refs/heads/../../config', tip], ['refs/heads/a\u001b[2J', tip], ['../../HEAD', tip]),
    ),
  ),
  answering('no HEAD', FAILED, (response, tip) => response.end(refList(['refs/heads/main', tip]))),
  answering('a tip that it does not send', FAILED, (response) =>
    response.end(refList(['HEAD', 'ab'.repeat(20)], ['refs/heads/main', 'ab'.repeat(20)])),
  ),
  { ...sent('server: another commit than was asked for', FAILED, plain), build: askedForAnother },
];

function endless(response: ServerResponse, tip: string): void {
  response.write(Buffer.concat([line('# service=git-upload-pack\n'), FLUSH, line(`${tip} HEAD\0shallow\n`)]));
  const block = Buffer.concat(
    Array.from({ length: 1_000 }, (_, n) => line(`${tip} refs/heads/${'x'.repeat(900)}${n}\n`)),
  );
  let left = 100;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(block)) return void response.once('drain', more);
    }
    response.end(FLUSH);
  };
  more();
}

/** A URL or ref that is refused before git starts. */
const refusedUrl = (name: string, url: string): Hostile => ({
  name: `url: ${name}`,
  expected: /^git: /,
  build: () => ({ url }),
});
const refusedRef = (name: string, ref: string): Hostile => ({
  name: `ref: ${name}`,
  expected: /^ref: /,
  build: ({ server }) => ({ url: server.serve({ tip: 'ab'.repeat(20), shallow: null, pack: Buffer.alloc(0) }), ref }),
});

export const URLS: readonly Hostile[] = [
  refusedUrl('a command', 'ext::sh -c touch% /tmp/gatehouse-hostile-marker'),
  refusedUrl('an option', '--upload-pack=touch /tmp/gatehouse-hostile-marker'),
  refusedUrl('an option of ssh', 'ssh://-oProxyCommand=touch/x'),
  refusedUrl('a file with a line break', 'file:/etc/passwd\n'),
  refusedUrl('a password', 'https://u:p@h/x'),
  refusedUrl('an invalid port', 'https://h:99999/x'),
  refusedUrl('the metadata of a cloud, in one number', 'https://2852039166/x'),
  refusedUrl('a line break', 'https://h/x\nHost: i'),
  refusedRef('an option', '--upload-pack=x'),
  refusedRef('a pattern', 'refs/heads/*:refs/heads/*'),
];

export const FILES: readonly Hostile[] = [
  stored('files: hooks and commands in its configuration', ['main.tf'], (folder, _objects, { marker }) => {
    const command = `touch ${marker}`;
    for (const name of ['post-upload-pack', 'pre-receive', 'reference-transaction', 'post-checkout'])
      writeBelow(folder, `hooks/${name}`, `#!/bin/sh\n${command}\n`);
    appendFileSync(
      join(folder, 'config'),
      `\tfsmonitor = ${command}\n\tsshCommand = ${command}\n\thooksPath = hooks\n\tpager = ${command}\n` +
        `[uploadpack]\n\tpackObjectsHook = ${command}\n[alias]\n\tfetch = !${command}\n`,
    );
  }),
  stored('files: configuration that includes a file of the machine', /git fetch failed|^main\.tf$/, (folder) =>
    appendFileSync(join(folder, 'config'), '[include]\n\tpath = /etc/shadow\n'),
  ),
  stored('files: objects that lie in a repository beside it', FAILED, (folder, objects, ground) => {
    const other = join(ground.folder(), 'other.git');
    const more = new Objects();
    more.store(other, more.commit(more.tree(['100644', 'secret', more.blob('secret of another')])));
    const tip = more.commit(more.tree(['100644', 'secret', more.blob('secret of another')]));
    writeBelow(folder, 'objects/info/alternates', `${join(other, 'objects')}\n`);
    writeBelow(folder, 'refs/heads/main', `${tip}\n`);
    objects.blob('unused');
  }),
  stored('files: objects that lie in /etc', /git fetch failed|^main\.tf$/, (folder) =>
    writeBelow(folder, 'objects/info/alternates', '/etc\n/proc/self\n../../../../../etc\n'),
  ),
  stored('files: its folder of objects is a link', FAILED, (folder, _objects, ground) => {
    const other = ground.folder();
    const more = new Objects();
    more.store(other, plain(more));
    rmSync(join(folder, 'objects'), { recursive: true });
    symlinkSync(join(other, 'objects'), join(folder, 'objects'));
    writeBelow(folder, 'refs/heads/main', `${plain(more)}\n`);
  }),
  stored('files: HEAD leads out of it', FAILED, (folder) =>
    writeBelow(folder, 'HEAD', 'ref: ../../../../etc/passwd\n'),
  ),
  stored('files: a branch leads to another', FAILED, (folder) =>
    writeBelow(folder, 'refs/heads/main', 'ref: refs/heads/main\n'),
  ),
  stored('files: grafts and replacements', ['main.tf'], (folder, objects) => {
    const other = objects.commit(objects.tree(['100644', 'evil', objects.blob('evil\n')]));
    const tip = objects.commit(objects.tree(['100644', 'main.tf', objects.blob()]));
    objects.store(folder, tip);
    writeBelow(folder, `refs/replace/${tip}`, `${other}\n`);
    writeBelow(folder, 'info/grafts', `${tip} ${other}\n`);
  }),
  stored('files: is not there', FAILED, (folder) => rmSync(folder, { recursive: true })),
];
