import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SPEC } from '../../../test/support/ansible/playbook-run.ts';
import { placeInputs, type PlaybookMaterials } from './inputs.ts';

const SECRET = 'hunter2-hunter2';
const MATERIALS: PlaybookMaterials = {
  tree: { path: '/srv/ops', named: null },
  plugins: false,
  dependencies: null,
  inventory: { file: 'inventory.json', text: '{}\n' },
  hosts: ['web1'],
  knownHosts: '',
  sshPorts: [],
  forks: 10,
  sshKey: Buffer.from(SECRET),
  vault: [{ name: 'db', variable: 'db', value: Buffer.from(SECRET) }],
};

/** What a run is given, and the files that were placed for it by their names. */
async function placed(t: TestContext, secrets: ReadonlyMap<string, Buffer> = new Map()) {
  const runDir = mkdtempSync(join(tmpdir(), 'gatehouse-inputs-'));
  t.after(() => rmSync(runDir, { recursive: true, force: true }));
  const files = new Map<string, string>();
  const placeInput = async (name: string, bytes: Uint8Array): Promise<string> => {
    files.set(name, Buffer.from(bytes).toString('utf8'));
    writeFileSync(join(runDir, name), bytes);
    return join(runDir, name);
  };
  const inputs = await placeInputs(SPEC, MATERIALS, secrets, { runDir, placeInput });
  return { runDir, files, ...inputs };
}

describe('What ansible-playbook is given', () => {
  it('T67: makes ssh share no connection, and send the module over it, whatever the source says', async (t) => {
    const { files, environment, options } = await placed(t);
    const ssh = files.get('ssh-vars.yml') ?? '';
    for (const word of ['-F none', "-o 'ControlMaster=no'", "-o 'ControlPath=none'", "-o 'IdentityAgent=none'"])
      assert.ok(ssh.includes(word), `${word} is not in ${ssh}`);
    assert.equal(environment['ANSIBLE_PIPELINING'], 'true');
    assert.match(options.at(-1) ?? '', /ssh-vars\.yml$/, 'the last variables win');
  });

  it('T18: keeps facts in memory, and all that is written in the directory of the run', async (t) => {
    const { runDir, environment } = await placed(t);
    assert.equal(environment['ANSIBLE_CACHE_PLUGIN'], 'memory');
    for (const name of ['ANSIBLE_HOME', 'ANSIBLE_LOCAL_TEMP', 'ANSIBLE_CACHE_PLUGIN_CONNECTION', 'XDG_CACHE_HOME'])
      assert.ok(environment[name]?.startsWith(`${runDir}/`), `${name} is ${environment[name]}`);
  });

  it('T55: has no secret among its arguments, and those of the run in the environment only', async (t) => {
    const { options, environment, files } = await placed(t, new Map([['TOKEN', Buffer.from(SECRET)]]));
    assert.ok(!options.join(' ').includes(SECRET));
    const holding = Object.keys(environment).filter((name) => environment[name]?.includes(SECRET));
    assert.deepEqual(holding, ['TOKEN']);
    const written = [...files].flatMap(([name, text]) => (text.includes(SECRET) ? [name] : []));
    assert.deepEqual(written.toSorted(), ['ssh-key', 'vault-0', 'vault-vars.yml']);
  });
});
