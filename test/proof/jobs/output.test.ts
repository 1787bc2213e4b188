/** Whatever a job prints, and however much of it, the daemon keeps it, numbers it, and lives. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { decodeChunk } from '../../../src/lib/chunks/chunk.ts';
import { type EventJson } from '../../support/api-client.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const LINE_BYTES_MAX = 64 * 1024;
const LONG_LINE_BYTES = 20 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Far below what keeping the output in memory would take, far above what a garbage collector may leave lying. */
const MEMORY_MARGIN_MIB = 160;

/** Prints what breaks readers: each line is an array of bytes. */
const HOSTILE: readonly (readonly number[])[] = [
  [0xff, 0xfe, 0x41], // no UTF-8
  [0x00, 0x41, 0x00], // NUL
  [0xed, 0xa0, 0x80], // a lone surrogate
  [0xf0, 0x9f, 0x92], // a character that is cut
  [0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x41], // ANSI
  [0x31, 0x25, 0x0d, 0x32, 0x25, 0x0d, 0x33, 0x25], // a progress bar
  [0xe2, 0x80, 0xa8, 0xe2, 0x80, 0xae], // line separator, right-to-left override
  [], // nothing
  [0x64, 0x61, 0x74, 0x61, 0x3a, 0x20, 0x78], // "data: x", which a stream must not take for its own
];

function perl(program: string): string[] {
  return ['/usr/bin/perl', '-e', program];
}

function printed(events: readonly EventJson[], stream: string): string[] {
  return events.filter((event) => event.type === 'log' && event.stream === stream).map((event) => event.text ?? '');
}

function assertGapless(events: readonly EventJson[]): void {
  const wrong = events.findIndex((event, index) => event.seq !== index + 1);
  assert.equal(wrong, -1, `event ${wrong} has the number ${events[wrong]?.seq}`);
}

describe('output', () => {
  test('F13: hostile bytes on both streams arrive whole, numbered without a gap, and the same by stream', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const bytes = HOSTILE.map(
      (line) => `"${[...line, 0x0a].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`,
    ).join(',');
    const id = await api.run(
      perl(`binmode STDOUT; binmode STDERR; for (${bytes}) { print STDOUT $_; print STDERR $_ } print "no end"`),
    );
    assert.equal((await api.waitFor(id)).state, 'succeeded');
    const events = await api.events(id);
    assertGapless(events);
    const expected = HOSTILE.map((line) => Buffer.from(line).toString('utf8'));
    assert.deepEqual(printed(events, 'stdout'), [...expected, 'no end']);
    assert.deepEqual(printed(events, 'stderr'), expected);

    const answer = await fetch(`${api.baseUrl}/jobs/${id}/stream`, {
      headers: { authorization: `Bearer ${fixture.token}` },
    });
    const blocks = (await answer.text()).split('\n\n').filter((block) => block.startsWith('id: '));
    const streamed = blocks.map(
      (block) =>
        JSON.parse(
          block
            .split('\n')
            .find((line) => line.startsWith('data: '))
            ?.slice(6) ?? '',
        ) as EventJson,
    );
    assert.deepEqual(streamed, events);
  });

  test('No path of the data directory is in the output of a job', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const program =
      'use Cwd; $| = 1; print getcwd(), "\\n$ENV{HOME} $ENV{TMPDIR}/x\\n"; print STDERR "cannot open ' +
      '$ENV{PWD}/a/../b\\n"; print "{\\"dir\\":\\"$ENV{PWD}\\"}\\n"; print "$ARGV[0]/seal.key\\n"; ' +
      'system("ls", "-d", "$ENV{HOME}/none")';
    const id = await api.run([...perl(program), join(fixture.dir, 'data')]);
    assert.equal((await api.waitFor(id)).state, 'succeeded');
    const events = await api.events(id);
    assert.deepEqual(printed(events, 'stdout'), ['[run]', '[run] [run]/x', '{"dir":"[run]"}', '[data]/seal.key']);
    const errors = printed(events, 'stderr');
    assert.equal(errors[0], 'cannot open [run]/a/../b');
    assert.match(errors[1] ?? '', /\[run\]\/none/);
    assert.ok(!JSON.stringify(events).includes(fixture.dir));
  });

  test('F13: a line without an end is split at 64 KiB and loses no byte', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    // 16 bytes at a time with a character of three bytes, so that pieces would end inside it.
    const id = await api.run(perl(`binmode STDOUT; print "0123456789abc\\xe2\\x82\\xac" x ${LONG_LINE_BYTES / 16}`));
    assert.equal((await api.waitFor(id)).state, 'succeeded');
    const events = await api.events(id);
    assertGapless(events);
    const pieces = printed(events, 'stdout');
    assert.ok(pieces.every((piece) => Buffer.byteLength(piece) <= LINE_BYTES_MAX));
    assert.equal(pieces.join(''), '0123456789abc€'.repeat(LONG_LINE_BYTES / 16));
  });

  test('F14: output of 300 MiB is kept up to its cap and marked as cut', async (t) => {
    const fixture = await openFixture(t);
    const daemon = await fixture.start();
    const api = daemon.api(fixture.token);
    await api.waitFor(await api.run(['/bin/true']));
    const before = residentMib(daemon.pid);
    const line = 'x'.repeat(1_000);
    const id = await api.run(['/bin/sh', '-c', `yes ${line} | head -c 300M; echo after >&2; exit 3`]);
    let most = before;
    const answers: number[] = [];
    for (let state = 'running'; state === 'running' || state === 'queued';) {
      const askedAt = performance.now();
      state = (await api.job(id)).state;
      answers.push(performance.now() - askedAt);
      most = Math.max(most, residentMib(daemon.pid));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const end = await api.job(id);
    assert.deepEqual({ state: end.state, exit_code: end.exit_code }, { state: 'failed', exit_code: 3 });
    const { kept } = await fixture.store.db
      .selectFrom('job_chunks')
      .select((eb) => eb.fn.sum<number>('raw_bytes').as('kept'))
      .where('job_id', '=', id)
      .executeTakeFirstOrThrow();
    assert.ok(kept <= 257 * MIB && kept > 250 * MIB, `${kept} bytes were kept`);
    const last = await fixture.store.db
      .selectFrom('job_chunks')
      .selectAll()
      .where('job_id', '=', id)
      .orderBy('first_seq', 'desc')
      .limit(3)
      .execute();
    const texts = last.flatMap((chunk) =>
      decodeChunk(Buffer.from(chunk.data), { after: 0, limit: Number.POSITIVE_INFINITY }).map((event) =>
        JSON.stringify(event),
      ),
    );
    assert.equal(texts.filter((text) => text.includes('Output limit of 256 MiB reached')).length, 1);
    assert.ok(most - before <= MEMORY_MARGIN_MIB, `${before} MiB became ${most} MiB`);
    const slowest = answers.toSorted((a, b) => b - a);
    t.diagnostic(
      `resident ${before} -> ${most} MiB; slowest answers ${slowest
        .slice(0, 3)
        .map((ms) => ms.toFixed(0))
        .join(', ')} ms of ${answers.length}`,
    );
  });
});

/** Resident memory of a process, in MiB. */
function residentMib(pid: number): number {
  return Math.round(
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024,
  );
}
