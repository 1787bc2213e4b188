import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { install, type Installation, queueJobs } from '../../test/support/doctor-facts.ts';

import { type DoctorParts, type Finding, ok } from './entry.ts';
import { type Check, Examination } from './examination.ts';

describe('the age of a finding', () => {
  let home: Installation;
  let asked: PromiseWithResolvers<Finding>[];
  before(async () => {
    home = await install();
  });
  after(() => home.remove());
  beforeEach(() => {
    asked = [];
  });

  function examine(): Promise<Finding> {
    const answer = Promise.withResolvers<Finding>();
    asked.push(answer);
    return answer.promise;
  }

  function examination(more: Partial<Check> = {}, otherwise: Partial<DoctorParts> = {}): Examination {
    const began = { wallMs: home.clock.now(), monotonicMs: home.clock.monotonic() };
    return new Examination({ name: 'it', limitMs: 60_000, examine, ...more }, { ...home.parts(otherwise), began });
  }

  /** An examination that took a second and found `first`. */
  async function examined(more: Partial<Check> = {}): Promise<Examination> {
    const made = examination(more);
    const entry = made.entry();
    home.clock.advance(1_000);
    asked[0]!.resolve(ok('first'));
    assert.equal((await entry).detail, 'first');
    return made;
  }

  function write(): Promise<unknown> {
    // The ids of its jobs are made of the time.
    home.clock.advance(1);
    return queueJobs(home.store, 1);
  }

  test('a finding is reused for nine times the time that it took while nothing is written', async () => {
    const made = await examined();
    home.clock.advance(8_999);
    assert.equal((await made.entry()).detail, 'first');
    home.clock.advance(1);
    const next = made.entry();
    asked[1]!.resolve(ok('second'));
    assert.equal((await next).detail, 'second');
  });

  test('a finding is dropped when anything was written', async () => {
    const made = await examined();
    await write();
    const next = made.entry();
    asked[1]!.resolve(ok('second'));
    assert.equal((await next).detail, 'second');
  });

  test('a request after a write does not get what was read before the write', async () => {
    const made = examination();
    const early = [made.entry(), made.entry()];
    await write();
    const late = [made.entry(), made.entry()];
    assert.equal(asked.length, 1);
    asked[0]!.resolve(ok('first'));
    assert.deepEqual(await details(early), ['first', 'first']);
    assert.equal(asked.length, 2);
    asked[1]!.resolve(ok('second'));
    assert.deepEqual(await details(late), ['second', 'second']);
    assert.equal(asked.length, 2);
  });

  test('without a counter of writes every request is examined', async () => {
    const made = examination({}, { openedStore: () => ({ ...home.store, version: () => null }) });
    const early = made.entry();
    const late = [made.entry(), made.entry()];
    asked[0]!.resolve(ok('first'));
    assert.equal((await early).detail, 'first');
    asked[1]!.resolve(ok('second'));
    assert.deepEqual(await details(late), ['second', 'second']);
    const next = made.entry();
    asked[2]!.resolve(ok('third'));
    assert.equal((await next).detail, 'third');
  });

  test('an entry that starts programs is reused for 60 s, whatever is written, and says its age', async () => {
    const made = await examined({ startsPrograms: true });
    await write();
    assert.equal((await made.entry()).detail, 'first');
    home.clock.advance(59_998);
    assert.equal((await made.entry()).detail, 'first (found 59s ago)');
    home.clock.advance(1);
    const next = made.entry();
    asked[1]!.resolve(ok('second'));
    assert.equal((await next).detail, 'second');
  });
});

async function details(entries: readonly Promise<{ readonly detail: string }>[]): Promise<string[]> {
  return (await Promise.all(entries)).map(({ detail }) => detail);
}
