import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { HandClock } from '../../../test/support/clock.ts';
import { patient } from '../../../test/support/measure/slowness.ts';
import { needs } from '../../../test/support/tools.ts';
import type { Facts, Finding } from '../entry.ts';
import { examineOptionalTools } from './optional-tools.ts';
import { parseManifest } from './toolchain-manifest.ts';
import { findProgram } from '../../lib/programs/find-program.ts';

/** What the real programs print. */
const REAL = {
  terraform:
    'Terraform v1.11.4\non linux_amd64\n\nYour version of Terraform is out of date! The latest version\nis 1.13.0.',
  tofu: 'OpenTofu v1.9.1\non linux_amd64',
  'ansible-playbook':
    'ansible-playbook [core 2.16.3]\n  config file = None\n  python version = 3.12.3 (main, Sep ' +
    '11 2024, 14:17:37) [GCC 13.2.0]',
  ssh: '>&2 OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.14 4 Jun 2024',
  git: 'git version 2.39.5',
  ping: 'ping from iputils 20221126\nlibcap: yes, IDN: yes, NLS: no, error.h: yes',
};
/** Time limits of a quick machine: the first start of a real tool is slow beside other tests. */
const PATIENT: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(patient(ms), fire) };
/** The folders of these tests are closed to the account of jobs. */
const OWN: Pick<Facts, 'jobIdentity'> = { jobIdentity: { account: null, isFallback: false } };
const PINS = {
  terraform: '1.11.4',
  tofu: '1.9.1',
  'ansible-playbook': '2.16.3',
  ssh: '9.2p1',
  git: '2.39.5',
  ping: '20221126',
};

describe('optional_tools', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gatehouse-tools-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  /** A program that prints `output`; `>&2 ` in front sends it to standard error. */
  async function tool(name: string, output: string): Promise<void> {
    const [, redirect, text] = /^(>&2 )?(.*)$/s.exec(output) ?? [];
    await script(name, `cat ${redirect ?? ''}<<'END'\n${text}\nEND`);
  }

  async function script(name: string, body: string): Promise<void> {
    await writeFile(join(dir, name), `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
    await chmod(join(dir, name), 0o755);
  }

  async function manifest(content: unknown): Promise<string> {
    const path = join(dir, 'manifest.json');
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  function examine(toolchainManifest: string | null, clock: Facts['clock'] = systemClock): Promise<Finding> {
    return examineOptionalTools({ ...OWN, clock, path: dir, settings: { toolchainManifest } } as Facts);
  }

  async function realTools(): Promise<void> {
    for (const [name, output] of Object.entries(REAL)) await tool(name, output);
  }

  test('without a manifest is unknown, names what is there, and says that no image is recorded', async () => {
    await tool('git', REAL.git);
    assert.deepEqual(await examine(null), {
      status: 'unknown',
      detail:
        'terraform missing, tofu missing, ansible-playbook missing, ssh missing, git 2.39.5, ping missing, ' +
        'no manifest to compare with; image-ref: not recorded',
    });
  });

  test('is ok when every version is the pinned one, and carries the image reference', async () => {
    await realTools();
    assert.deepEqual(await examine(await manifest({ image_ref: 'registry.example/gatehouse:1.4', tools: PINS })), {
      status: 'ok',
      detail:
        'terraform 1.11.4, tofu 1.9.1, ansible-playbook 2.16.3, ssh 9.2p1, git 2.39.5, ping 20221126; ' +
        'image-ref: registry.example/gatehouse:1.4',
    });
  });

  test('warns when a version is off its pin, and names both', async () => {
    await realTools();
    const found = await examine(await manifest({ tools: { ...PINS, terraform: 'v1.11.4', git: '2.40.0' } }));
    assert.equal(found.status, 'warn');
    assert.match(
      found.detail,
      /terraform 1\.11\.4, .*git 2\.39\.5 OFF PIN \(pinned 2\.40\.0\), .*image-ref: not recorded$/,
    );
  });

  test('a version that is not understood is named and changes nothing', async () => {
    await realTools();
    await tool('git', 'git: private-build of /home/alice');
    const path = await manifest({ tools: PINS });
    const found = await examine(path);
    assert.equal(found.status, 'ok');
    assert.match(found.detail, /git version not understood \(pinned 2\.39\.5\)/);
    assert.doesNotMatch(found.detail, /alice/);
    await tool('ssh', 'OpenSSH_10.0');
    assert.equal((await examine(path)).status, 'warn');
  });

  test('a tool that is missing, empty, no program or exits with an error changes nothing', async () => {
    await tool('git', REAL.git);
    await script('tofu', 'exit 1');
    await script('ssh', `echo '${REAL.ssh.slice(4)}'; exit 255`);
    await writeFile(join(dir, 'ping'), '#!/nonexistent/interpreter\n');
    await chmod(join(dir, 'ping'), 0o755);
    await mkdir(join(dir, 'terraform'));
    const found = await examine(await manifest({ tools: PINS }));
    assert.equal(found.status, 'ok');
    assert.match(
      found.detail,
      new RegExp(
        String.raw`^terraform missing \(pinned 1\.11\.4\), tofu version not understood .*, ` +
          String.raw`ansible-playbook missing .*, ssh 9\.2p1, git 2\.39\.5, ping cannot be started`,
      ),
    );
  });

  test('versions in the forms of other builds are understood', async () => {
    const forms: [name: string, output: string, version: string][] = [
      ['terraform', 'Terraform v1.12.0-beta1\non darwin_arm64', '1.12.0-beta1'],
      ['ansible-playbook', 'ansible-playbook 2.9.27\n  config file = None', '2.9.27'],
      ['ssh', '>&2 OpenSSH_9.9p2, LibreSSL 3.3.6', '9.9p2'],
      ['git', 'git version 2.39.5 (Apple Git-154)', '2.39.5'],
      ['ping', 'ping utility, iputils-s20190709', '20190709'],
      ['ping', 'ping (GNU inetutils) 2.4\nCopyright (C) 2022', '2.4'],
    ];
    for (const [name, output, version] of forms) {
      await tool(name, output);
      assert.match((await examine(null)).detail, new RegExp(`${name} ${RegExp.escape(version)},`), output);
    }
  });

  test('a tool that prints without end is cut off, and its version is still read', async () => {
    await script('git', `echo '${REAL.git}'; while :; do echo filling; done`);
    assert.match((await examine(null)).detail, /git 2\.39\.5/);
  });

  test('a tool that hangs is ended after 5 s with all that it started, and hides no other', async () => {
    const clock = new HandClock();
    await tool('git', REAL.git);
    await script('ssh', `touch ${dir}/begun; sleep 1000 & sleep 1000`);
    const report = examine(null, clock);
    while (!(await readdir(dir)).includes('begun')) await new Promise((resolve) => setImmediate(resolve));
    // Only the timers of tools that have not answered are left once git has.
    while (clock.waiting > 1) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(5_000);
    assert.match((await report).detail, /ssh no answer within 5s, git 2\.39\.5/);
  });

  test('tools get no secrets and no working directory of ours', async () => {
    process.env['GATEHOUSE_TEST_SECRET'] = 'hidden';
    try {
      await script('git', `env > ${dir}/seen; pwd >> ${dir}/seen; echo '${REAL.git}'`);
      await examine(null);
      const seen = await readFile(join(dir, 'seen'), 'utf8');
      assert.doesNotMatch(seen, /hidden/);
      assert.match(seen, /^CHECKPOINT_DISABLE=1$/m);
      assert.match(seen, /\n\/\n$/);
    } finally {
      delete process.env['GATEHOUSE_TEST_SECRET'];
    }
  });

  test('relative entries of PATH are never searched', async () => {
    await tool('git', REAL.git);
    assert.equal(await findProgram('git', ['', '.', relative(process.cwd(), dir)].join(delimiter)), null);
    assert.equal(await findProgram('git', ['', '/nonexistent', dir].join(delimiter)), join(dir, 'git'));
  });

  test('F09: a manifest that is missing, torn or of another form is warned of, and holds up nothing', async () => {
    await tool('git', REAL.git);
    const bad: [content: unknown, why: RegExp][] = [
      ['', /it is not JSON/],
      ['{"tools": {"git": "2.3', /it is not JSON/],
      ['[]', /it is not a JSON object/],
      [{ tools: [] }, /tools is not an object/],
      [{ tools: { git: 2.39 } }, /expected a version as text/],
      [{ tools: { git: 'x'.repeat(100) } }, /expected a version as text/],
      [{ image_ref: 'https://bob:secret@registry.example/x' }, /image_ref is not an image reference/],
      [`"${'x'.repeat(70_000)}"`, /larger than 65536 bytes/],
    ];
    for (const [content, why] of bad) {
      const found = await examine(await manifest(content));
      assert.equal(found.status, 'warn', String(why));
      assert.match(found.detail, why);
      assert.match(found.detail, /git 2\.39\.5/);
      assert.doesNotMatch(found.detail, /secret/);
    }
    assert.match(
      (await examine(join(dir, 'none.json'))).detail,
      /the manifest cannot be used: no such file or directory \(ENOENT\)/,
    );
    assert.match((await examine(dir)).detail, /the manifest cannot be used: it is not a file/);
  });

  test('T86: a manifest is not read through a link that others may exchange', { skip: needs('Linux') }, async () => {
    const link = join(dir, 'link.json');
    await symlink(await manifest({ tools: {} }), link);
    assert.equal((await examine(link)).status, 'ok');
    await chmod(dir, 0o777);
    const why = 'its path leads through a symbolic link that another account made or may exchange';
    assert.ok((await examine(link)).detail.includes(`the manifest cannot be used: ${why}`));
  });

  test('a manifest may lack each member and have others; pins of other tools are counted', async () => {
    assert.deepEqual(parseManifest('{"made_by": "ci"}'), { imageRef: null, pins: new Map() });
    assert.equal(
      parseManifest(`{"image_ref": "a.b/c@sha256:${'0'.repeat(64)}"}`).imageRef,
      `a.b/c@sha256:${'0'.repeat(64)}`,
    );
    const found = await examine(await manifest({ tools: { python: '3.12', __proto__x: '1' } }));
    assert.equal(found.status, 'ok');
    assert.match(found.detail, /2 pins of tools that are not checked/);
  });

  test(
    'the real ansible-playbook leaves nothing in the home directory',
    { skip: needs('ansible-playbook') },
    async () => {
      const { HOME: home, PATH: path = '' } = process.env;
      process.env['HOME'] = dir;
      try {
        const facts = { clock: PATIENT, path, settings: { sealKeyFile: null, toolchainManifest: null } } as Facts;
        assert.match((await examineOptionalTools(facts)).detail, /ansible-playbook \d/);
        assert.deepEqual(await readdir(dir), []);
      } finally {
        process.env['HOME'] = home;
      }
    },
  );
});
