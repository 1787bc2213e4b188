/** Plans that are read in a thread, or not at all, because they are long. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PLAN_JSON_MAX_BYTES, readInThread, readPlan } from './plan-reader.ts';

const OPTIONS = { artifactId: 'art_1', secrets: [], file: null };

function created(i: number): object {
  const change = {
    actions: ['create'],
    before: null,
    after: { text: 'some text '.repeat(100) },
    after_unknown: {},
    before_sensitive: false,
    after_sensitive: {},
  };
  return { address: `x.a[${i}]`, mode: 'managed', type: 'x', name: 'a', change };
}

/** A plan that creates `count` resources of 1 kB. */
function bigPlan(count: number): Buffer {
  return Buffer.from(
    JSON.stringify({ format_version: '1.2', resource_changes: Array.from({ length: count }, (_, i) => created(i)) }),
  );
}

describe('long plans', () => {
  it('a plan beyond 1 MiB is read in a thread while the event loop is free', async () => {
    const order: string[] = [];
    const reading = readPlan(bigPlan(2000), OPTIONS).finally(() => order.push('read'));
    setImmediate(() => order.push('turn of the event loop'));
    const {
      plan: { summary, planned },
    } = await reading;
    assert.equal(summary, '0 to destroy, 0 to replace, 0 to change, 2000 to create');
    assert.equal(planned.creates.at(-1)?.address, 'x.a[1999]');
    assert.deepEqual(order, ['turn of the event loop', 'read']);
  });

  it('what is wrong with a long plan comes back as a sentence', async () => {
    const json = bigPlan(2000);
    json.write('!', json.length - 1);
    await assert.rejects(readPlan(json, OPTIONS), { message: 'The plan could not be read: it is not valid JSON.' });
  });

  it('a thread that runs out of memory is an error, and not the end of the process', async () => {
    await assert.rejects(readInThread(bigPlan(20_000), OPTIONS, 8), {
      message: 'The plan could not be read: the thread failed (ERR_WORKER_OUT_OF_MEMORY).',
    });
  });

  it('T97: a plan of millions of empty objects is refused before it is parsed', async () => {
    const json = Buffer.alloc(9_000_000, '{},');
    await assert.rejects(readPlan(json, OPTIONS), {
      message: 'The plan could not be read: it has more than 2000000 objects and lists.',
    });
  });

  it('a plan beyond the limit is refused before it is parsed', async () => {
    await assert.rejects(
      readPlan(Buffer.alloc(PLAN_JSON_MAX_BYTES + 1), OPTIONS),
      /has 67108865 bytes, and at most 67108864 are read/,
    );
  });
});
