import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, type TestContext } from 'node:test';
import { decodeChunk } from '../../lib/chunks/chunk.ts';
import { systemClock } from '../../lib/clock.ts';
import { jobIdPart } from '../../domain/path-part.ts';
import { newId } from '../../lib/id.ts';
import type { Bounds } from '../bounds/bounds.ts';
import { SampledBounds } from '../bounds/sampled.ts';
import { createLauncher } from '../launch/launch.ts';
import { openMachine } from '../launch/machine.ts';
import type { RecordedChunk } from '../output/chunk-queue.ts';
import { DEFAULT_PATH } from '../process/environment.ts';
import { createGuard, type Guard } from '../process/guard.ts';
import { runJob } from '../run.ts';
import { outcomeOf } from '../runner.ts';
import { SharedMemory } from './shared-memory.ts';
import { NO_BOUNDS } from '../../../test/support/bounds/no-bounds.ts';
import { needs } from '../../../test/support/tools.ts';

/** No other test, also of another clone of the project, has processes of this account. */
const ID = 200_000 + process.pid;
const ACCOUNT = { name: 'gatehouse-test', uid: ID, gid: ID };
const FOLDER = '/dev/shm';
const MIB = 2 ** 20;
const [PROT_READ, MAP_SHARED] = [1, 1];
const LIMITS = { memoryBytes: 40 * MIB, processes: 40 };

let names = 0;
const newPath = (): string => `${FOLDER}/gatehouse-${process.pid}-${(names += 1)}`;

function give(path: string): void {
  lchownSync(path, ACCOUNT.uid, ACCOUNT.gid);
}

function fileOf(path = newPath()): string {
  writeFileSync(path, 'left');
  give(path);
  return path;
}

/** A process of the account, which is ready when it has printed a line, and its end. */
async function holder(t: TestContext, script: string): Promise<() => Promise<void>> {
  const child = spawn('perl', ['-e', `$| = 1; ${script}; print "ready\\n"; <STDIN>`], {
    uid: ACCOUNT.uid,
    gid: ACCOUNT.gid,
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: '/',
  });
  const exited = once(child, 'exit');
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await exited;
  };
}

describe('shared memory of a separate account of jobs', { skip: needs('Linux', 'root', 'Landlock ABI 4') }, () => {
  let dir: string;
  let guard: Guard;
  let shared: SharedMemory;

  before(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-shared-')));
    chmodSync(dir, 0o711);
    guard = createGuard({ clock: systemClock });
  });
  after(async () => {
    await guard.stop();
    rmSync(dir, { recursive: true });
  });
  afterEach(() => {
    for (; names > 0; names -= 1)
      rmSync(`${FOLDER}/gatehouse-${process.pid}-${names}`, { recursive: true, force: true });
  });

  interface Ran {
    readonly exitCode: number | null;
    readonly text: string;
  }

  /** Runs a program as a job; `atEnd` is called when it has ended, before the run has. */
  async function run(
    script: string,
    { atEnd, bounds = NO_BOUNDS }: { atEnd?: () => unknown; bounds?: Bounds } = {},
  ): Promise<Ran> {
    const chunks: RecordedChunk[] = [];
    const write = (chunk: RecordedChunk): Promise<void> => Promise.resolve(void chunks.push(chunk));
    const { outcome, lastChunk } = await runJob<null, null, never, never>(
      {
        clock: systemClock,
        launcher: createLauncher(),
        guard,
        bounds,
        sharedMemory: shared,
        runsDir: dir,
        account: ACCOUNT,
        path: DEFAULT_PATH,
        lang: 'C.UTF-8',
      },
      {
        clearFiles: [],
        async run(_, tools) {
          const argv = ['timeout', '--signal=KILL', '60', 'sh', '-c', script];
          const end = await tools.exec({ argv, connectPorts: [], sharedMemory: true });
          await atEnd?.();
          return outcomeOf(end);
        },
      },
      {
        id: jobIdPart(newId('job', systemClock.now())),
        kind: 'command',
        spec: null,
        privileged: false,
        timeoutMs: 60_000,
        secrets: new Map(),
        hidden: [],
        materials: null,
      },
      {
        firstSeq: 1,
        takeChild: () => null,
        leader: () => Promise.resolve(),
        write,
        partial: () => Promise.resolve(),
        checkpoint: () => Promise.resolve(),
      },
      new AbortController().signal,
    );
    if (lastChunk !== null) chunks.push(lastChunk);
    const events = chunks.flatMap(({ data }) => decodeChunk(data, { after: 0, limit: 1_000 }));
    return { exitCode: outcome.exitCode, text: events.map((event) => ('text' in event ? event.text : '')).join('\n') };
  }

  const open = (): void => void (shared = new SharedMemory(ACCOUNT, systemClock));

  it('T91: files and folders that a job leaves are gone when it has ended', async () => {
    open();
    const [file, folder] = [newPath(), newPath()];
    const ran = await run(`echo left > ${file}`, {
      atEnd() {
        assert.equal(readFileSync(file, 'utf8'), 'left\n');
        // The sandbox makes no folder there: this is what a program outside of it would leave.
        mkdirSync(join(folder, 'deep', 'deeper'), { recursive: true });
        fileOf(join(folder, 'deep', 'file'));
        for (const path of [folder, join(folder, 'deep'), join(folder, 'deep', 'deeper')]) {
          give(path);
          chmodSync(path, 0o700);
        }
      },
    });
    assert.equal(ran.exitCode, 0, ran.text);
    assert.deepEqual([existsSync(file), existsSync(folder)], [false, false]);
  });

  it('T91: what was left before is gone after the start of the daemon', async () => {
    open();
    const odd = Buffer.concat([Buffer.from(newPath()), Buffer.from([0xff, 0x0a])]);
    writeFileSync(odd, 'left');
    chownSync(odd, ACCOUNT.uid, ACCOUNT.gid);
    const file = fileOf();
    await shared.empty();
    assert.deepEqual([existsSync(file), existsSync(odd)], [false, false]);
  });

  it('T91: a file that a process of the account has open or mapped stays until the process has ended', async (t) => {
    open();
    const [opened, mapped, unused] = [fileOf(), fileOf(), fileOf()];
    const endOpen = await holder(t, `open my $f, "<", "${opened}" or die`);
    const { mmap } = openMachine().system.numbers.made;
    const map = `syscall(${mmap}, 0, 4096, ${PROT_READ}, ${MAP_SHARED}, fileno $f, 0) == -1 and die; close $f`;
    const endMapped = await holder(t, `open my $f, "<", "${mapped}" or die; ${map}`);
    await run('true');
    assert.deepEqual(
      [opened, mapped, unused].map((path) => existsSync(path)),
      [true, true, false],
    );
    await endOpen();
    await run('true');
    assert.deepEqual(
      [opened, mapped].map((path) => existsSync(path)),
      [false, true],
    );
    await endMapped();
    await run('true');
    assert.equal(existsSync(mapped), false);
  });

  it('T91: nothing is removed during another run of the account, and all of it after the last one', async () => {
    open();
    const file = newPath();
    const ended = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const other = run('true', {
      atEnd() {
        began.resolve();
        return ended.promise;
      },
    });
    await began.promise;
    await run(`echo left > ${file}`);
    assert.equal(existsSync(file), true);
    ended.resolve();
    await other;
    assert.equal(existsSync(file), false);
  });

  it('T91: nothing is removed during a run of another daemon with the account', async () => {
    open();
    const file = fileOf();
    const env = { PATH: DEFAULT_PATH, SVC_JOB_ID: 'job_of_another_daemon' };
    const argv = ['sleep', '60'];
    const other = await createLauncher().launch({ argv, env, cwd: '/', policy: null, account: ACCOUNT });
    await other.started;
    await run('true');
    assert.equal(existsSync(file), true);
    process.kill(other.pid, 'SIGKILL');
    await other.exited;
    await run('true');
    assert.equal(existsSync(file), false);
  });

  it('T91: a link is removed itself, and nothing that it leads to; files of other accounts stay', async () => {
    open();
    const outside = join(dir, 'outside');
    mkdirSync(outside);
    fileOf(join(outside, 'file'));
    give(outside);
    const [link, other] = [newPath(), newPath()];
    symlinkSync(outside, link);
    give(link);
    writeFileSync(other, 'of root');
    chmodSync(other, 0o666);
    await run('true');
    assert.throws(() => readFileSync(link), { code: 'ENOENT' });
    assert.equal(readFileSync(join(outside, 'file'), 'utf8'), 'left');
    assert.equal(readFileSync(other, 'utf8'), 'of root');
  });

  it('T91: without the folder of shared memory, nothing happens', async () => {
    shared = new SharedMemory(ACCOUNT, systemClock, join(dir, 'missing'));
    const use = await shared.begin();
    assert.equal(await use.grownBytes(), 0);
    await use.end();
    await shared.empty();
  });

  it('T91: a job without a control group that fills shared memory above its memory is ended', async () => {
    open();
    const bounds = new SampledBounds({
      limits: LIMITS,
      jobs: 1,
      clock: systemClock,
      because: 'of the test',
      adopted: () => openMachine().children.adopted(),
    });
    // What was there before is not the job's. In a container shared memory may have 64 MiB in all.
    const before = fileOf();
    writeFileSync(before, Buffer.alloc(15 * MIB));
    const path = newPath();
    const fill = `head -c ${LIMITS.memoryBytes + MIB} /dev/zero > ${path}; sleep 60`;
    const filled = await run(fill, { bounds });
    assert.match(filled.text, /The job used more than 40 MiB of memory and was ended\./);
    assert.equal(existsSync(path), false);
    const little = await run(`head -c ${26 * MIB} /dev/zero > ${path}; sleep 1`, { bounds });
    assert.deepEqual([little.exitCode, little.text], [0, '']);
  });
});
