/**
 * Secrets on the command line, as the processes that a person starts: the value is in no place where it could be read.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createSealKeeper } from '../../../src/config/seal-keeper.ts';
import { openStore } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { noKeyring } from '../../support/seal.ts';
import { readSecrets } from '../../../src/store/secrets/secrets.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');
const CANARY = 'canary/"value"+of=a secret';
/** The shapes in which it would be found, in files and in what a program prints. */
const SHAPES = [
  CANARY,
  JSON.stringify(CANARY).slice(1, -1),
  encodeURIComponent(CANARY),
  Buffer.from(CANARY).toString('hex'),
];
const BASE64_PARTS = [0, 1, 2].map((offset) => Buffer.from(CANARY.slice(offset)).toString('base64').slice(0, 24));

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Place {
  readonly dir: string;
  readonly data: string;
  /** Runs svc; `input` is its whole standard input. Notes the words that the process was started with. */
  readonly svc: (args: readonly string[], input?: string | Buffer) => Promise<Ran>;
}

function openPlace(t: TestContext): Place {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const data = join(dir, 'data');
  return {
    dir,
    data,
    async svc(args, input = '') {
      const env = { PATH: process.env['PATH'] ?? '', HOME: dir, SVC_DATA_DIR: data };
      const child = spawn(SVC, args, { cwd: dir, env, stdio: ['pipe', 'pipe', 'pipe'] });
      const ran = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk: Buffer) => (ran.stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (ran.stderr += chunk.toString()));
      const closed = once(child, 'close');
      assertAbsent('its own argv', readFileSync(`/proc/${child.pid}/cmdline`, 'latin1'));
      // One that refuses its words does not read to the end.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
      const [code] = (await closed) as [number | null];
      assertAbsent(`what svc ${args.join(' ')} prints`, ran.stdout + ran.stderr);
      return { code, ...ran };
    },
  };
}

function assertAbsent(where: string, text: string): void {
  for (const shape of [...SHAPES, ...BASE64_PARTS])
    assert.equal(text.includes(shape), false, `${where} holds ${shape}`);
}

/** Every file below, WAL and temporary ones too. */
function assertInNoFile(dir: string): number {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  for (const file of files) assertAbsent(file.name, readFileSync(join(file.parentPath, file.name), 'latin1'));
  return files.length;
}

/** As a run would get it. */
async function valueOf(data: string, ref: string): Promise<string> {
  const store = await openStore({
    location: { file: join(data, 'gatehouse.db') },
    clock: systemClock,
    daemonId: 'dmn_story',
    keyring: noKeyring,
  });
  try {
    const ring = await createSealKeeper(join(data, 'seal.key'), () => true).keyring();
    return String((await readSecrets(store.db, ring, { x: ref })).get('x'));
  } finally {
    await store.close();
  }
}

test('T55: a secret is set from standard input and from a file, and its value is in no output', async (t) => {
  const { dir, data, svc } = openPlace(t);
  const piped = await svc(['secret', 'set', 'net/token', '--output', 'json'], `${CANARY}\n`);
  assert.deepEqual([piped.code, (JSON.parse(piped.stdout) as { kind: string }).kind], [0, 'secret.get'], piped.stderr);
  assert.equal(statSync(join(data, 'seal.key')).mode & 0o777, 0o600);
  assert.ok(assertInNoFile(dir) > 2, 'there are files to look through');
  assert.equal(await valueOf(data, 'net/token'), CANARY, 'one line end is no part of it');

  const file = join(dir, 'value');
  writeFileSync(file, `${CANARY}\nand a second line\n\n`);
  assert.equal((await svc(['secret', 'set', 'net/key', '--file', file])).code, 0);
  rmSync(file);
  assert.equal(await valueOf(data, 'net/key'), `${CANARY}\nand a second line\n`);
  assert.equal((await svc(['secret', 'set', 'net/token', '--file', '-'], CANARY)).code, 0);

  const listed = await svc(['secret', 'list', '--output', 'json']);
  const { data: rows } = JSON.parse(listed.stdout) as { data: { name: string; version: number }[] };
  assert.deepEqual(
    rows.map(({ name, version }) => [name, version]),
    [
      ['key', 1],
      ['token', 2],
    ],
  );
  const text = await svc(['secret', 'list']);
  assert.match(text.stdout, /token/);

  for (const verb of ['rotate', 'status']) {
    const ran = await svc(['seal', verb, '--output', 'json']);
    assert.deepEqual(
      [ran.code, (JSON.parse(ran.stdout) as { data: { state: string } }).data.state],
      [0, 'ok'],
      ran.stderr,
    );
  }
  assert.equal(await valueOf(data, 'net/token'), CANARY);
  const unasked = await svc(['secret', 'remove', 'net/token']);
  assert.deepEqual([unasked.code, await valueOf(data, 'net/token')], [1, CANARY], unasked.stderr);
  assert.match(unasked.stderr, /--yes/);
  assert.equal((await svc(['secret', 'remove', 'net/token', '--yes'])).code, 0);
  assert.equal((await svc(['secret', 'remove', 'net/token', '--yes'])).code, 3);
  assertInNoFile(dir);
});

test('what is no value is refused in words that do not repeat it, and leaves nothing behind', async (t) => {
  const { dir, data, svc } = openPlace(t);
  const refused: readonly (readonly [why: RegExp, args: readonly string[], input: string | Buffer])[] = [
    [/^Error: --file or standard input: expected a value; found none\./, ['net/token'], ''],
    [/^Error: --file or standard input: expected a value; found none\./, ['net/token'], '\n'],
    [/^Error: --file or standard input: a NUL character is not allowed\./, ['net/token'], `${CANARY}\0`],
    [/^Error: --file or standard input: expected at most 65536 bytes\./, ['net/token'], CANARY.repeat(10_000)],
    [/^Error: --file or standard input: expected at most 65536 bytes\./, ['net/token'], 'ü'.repeat(40_000)],
    [/^Error: standard input: the value is not UTF-8 text/, ['net/token'], Buffer.from([0x63, 0xff, 0xfe])],
    [/^Error: SECRET: expected PROJECT\/NAME/, ['token'], CANARY],
    [/^Error: --file: \/.*nowhere does not exist\./, ['net/token', '--file', join(dir, 'nowhere')], CANARY],
    [/^Error: --file: \S+ is a directory; expected a file\./, ['net/token', '--file', dir], CANARY],
    [/^Error: Unknown flag "--value"/, ['net/token', '--value', 'x'], CANARY],
    [/^Error: svc secret set: unexpected argument/, ['net/token', 'x'], CANARY],
  ];
  for (const [why, args, input] of refused) {
    const ran = await svc(['secret', 'set', ...args], input);
    assert.match(ran.stderr, why);
    assert.deepEqual([ran.code, ran.stdout], [1, '']);
  }
  assert.throws(() => statSync(data), { code: 'ENOENT' });
  const remote = await svc(['secret', 'set', 'net/token', '--remote', 'http://127.0.0.1:1'], CANARY);
  assert.equal(remote.code, 1);
  assert.match(remote.stderr, /secret set/);
});
