/** The files that the examples read, in the reader's folder and below what stands for the root of the file system. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeTree } from '../support/ansible/bare-run.ts';
import { UPTIME_KUMA } from '../support/configuration/exports.ts';
import type { SshServer } from '../support/inventories/sshd.ts';
import { blocksOf, DOCUMENTS } from './blocks.ts';

/** Folders of the machine that an example names. */
const MACHINE = /(?<![\w.:/}*])\/(?=(?:mnt|srv|etc|var\/lib|usr\/local)\/)/g;

export function onThisMachine(text: string, root: string): string {
  return text.replaceAll(MACHINE, `${root}/`);
}

const ROOT_MODULE =
  'resource "terraform_data" "network" {\n  input = "10.0.0.0/16"\n}\n\noutput "zone" {\n  value = 1\n}\n';
const VARIABLES = 'variable "zone" {\n  default = ""\n}\n\nvariable "token" {\n  default = ""\n}\n';
const PLAY = '- hosts: all\n  gather_facts: false\n  tasks:\n    - raw: uname -n\n      tags: [config, clean]\n';
const HERE = '- hosts: localhost\n  gather_facts: false\n  tasks:\n    - raw: uname -n\n';

const WORKFLOW = `name: patch-and-check
steps:
  - {name: patch, command: ["true"], inventory: localhost}
  - {name: look, command: ["uptime"], inventory: localhost}
  - {name: web, needs: [], command: ["true"], inventory: localhost}
  - {name: mail, needs: [], command: ["true"], inventory: localhost}
`;

export const STATE = {
  version: 4,
  terraform_version: '1.5.0',
  serial: 1,
  lineage: '6d1f0c5e-0000-4000-8000-000000000001',
  outputs: {},
  resources: [],
  check_results: null,
};

/** What rules and workflows of the examples run. */
const PROGRAMS = ['usr/local/bin/free-space', 'usr/local/bin/clean-disk', 'usr/local/sbin/patch'];

/** Where a reader has a copy of the seal key. */
export const KEY = 'mnt/usb/gatehouse.key';

const MACHINE_FOLDERS = [
  'mnt/usb',
  'mnt/backups',
  'srv/cache',
  'srv/data',
  'var/lib',
  'usr/local/share/man/man1',
  'usr/local/bin',
  'usr/local/sbin',
  'etc/bash_completion.d',
  'etc/systemd/system',
  'etc/gatehouse',
  'new',
  'data/cache',
  '.config/fish/completions',
  '.config/gatehouse/contexts',
];

export interface Folders {
  readonly folder: string;
  readonly root: string;
  readonly server: SshServer;
}

/** Writes all of them. */
export function writeFiles({ folder, root, server }: Folders): void {
  const answers = `ansible_host: 127.0.0.1, ansible_port: ${server.port}, ansible_user: ${server.user}`;
  const yaml = (groups: Readonly<Record<string, readonly string[]>>): string =>
    Object.entries(groups)
      .map(([group, hosts]) => `${group}:\n  hosts:\n${hosts.map((host) => `    ${host}: {${answers}}\n`).join('')}`)
      .join('');
  writeTree(folder, {
    'net/main.tf': ROOT_MODULE + VARIABLES,
    'infra/roots/net/main.tf': ROOT_MODULE + VARIABLES,
    'ops/roots/prod/main.tf': ROOT_MODULE,
    'ops/site.yml': PLAY,
    'ops/patch.yml': PLAY,
    'ops/clean.yml': PLAY,
    'site.yml': HERE,
    'prod.tfvars': 'zone = "fsn1"\n',
    'net.tfstate': JSON.stringify(STATE),
    'token.txt': 'a-token',
    'deploy.key': server.privateKey,
    'hosts.yaml': yaml({ web: ['web1', 'web01.example.org'], db: ['db1'] }),
    'hosts.ini': `[web]\nweb1 ${answers.replaceAll(', ', ' ').replaceAll(': ', '=')}\n`,
    'backup.json': UPTIME_KUMA,
    ...Object.fromEntries(DOCUMENTS.flatMap((path) => shownFiles(path, root))),
    'patch-and-check.yaml': WORKFLOW,
  });
  writeTree(root, {
    'etc/crontab': '17 * * * * root run-parts /etc/cron.hourly\n',
    '.ssh/deploy_ed25519': server.privateKey,
    // A refusal of a server is a failure of the example.
    '.curlrc': 'fail-with-body\nsilent\nshow-error\n',
    '.gitconfig': '[user]\n\tname = Reader\n\temail = reader@example.org\n',
    'event.json': '{"annotations":{"summary":"almost full"}}',
  });
  for (const name of MACHINE_FOLDERS) mkdirSync(join(root, name), { recursive: true, mode: 0o755 });
  for (const name of PROGRAMS) writeFileSync(join(root, name), '#!/bin/sh\n', { mode: 0o755 });
}

/** The files that a page shows: its commands name them after what is in them. */
function shownFiles(path: string, root: string): [name: string, text: string][] {
  return blocksOf(path).flatMap(({ language, text }): [string, string][] => {
    if (language === 'json' && /"kind"/.test(text) && /"targets"/.test(text)) return [['check.json', text]];
    const [, name] = /^name: (\S+)$[^]*^(?:when|steps):/m.exec(text) ?? /^set: (\S+)$/m.exec(text) ?? [];
    if (language !== 'yaml' || name === undefined) return [];
    return [[`${name}.yaml`, onThisMachine(`${text}\n`, root)]];
  });
}

/** A reader of a page has the files that the page shows; of two of one name, the last. */
export function takeFiles(path: string, { folder, root, server }: Folders): void {
  // The folders themselves remain: the service takes no other one for the directory of a source or workspace.
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    for (const name of entry.isDirectory() ? readdirSync(join(folder, entry.name)) : [''])
      rmSync(join(folder, entry.name, name), { recursive: true, force: true });
  writeFiles({ folder, root, server });
  writeTree(folder, Object.fromEntries(shownFiles(path, root)));
}
