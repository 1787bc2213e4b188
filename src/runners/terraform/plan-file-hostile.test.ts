import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, test } from 'node:test';
import {
  field,
  planFile,
  planMessage,
  type PlannedResource,
  resource,
  zipOf,
  zipOfTwo,
} from '../../../test/support/attacks/plan-bytes.ts';
import { type ChangeKey, readPlanFile, resourceKey } from './plan-file.ts';
import { refuseOtherPlan } from './plan-match.ts';

const ACTIONS = [
  'no-op',
  'create',
  'read',
  'update',
  '',
  'delete',
  'delete,create',
  'create,delete',
  'forget',
] as const;
const NUMBERS = [0, 1, 2, 3, 5, 6, 7, 8];
const CREATE = resource({ address: 'a.b', action: 1 });

async function keysOf(bytes: Buffer, tool: 'terraform' | 'tofu' = 'terraform'): Promise<readonly ChangeKey[]> {
  return (await readPlanFile({ bytes, tool })).changes;
}

/** How many changes a file with one deletion has. */
async function deleted(address: string): Promise<number> {
  return (await keysOf(planFile(resource({ address, action: 5 })))).length;
}

function shown(...all: PlannedResource[]): object {
  return {
    resource_changes: all.map(({ address, action, previous, deposed }) => ({
      address,
      previous_address: previous,
      deposed,
      change: { actions: ACTIONS[action]!.split(',') },
    })),
  };
}

function refused(file: Buffer, why: RegExp): Promise<void> {
  return assert.rejects(
    keysOf(file),
    (error: Error) => error.message.startsWith('The plan file could not be read: ') && why.test(error.message),
  );
}

describe('A plan file', () => {
  test('says the addresses and actions that were written into it', async () => {
    const resources = fc.array(
      fc.record({
        address: fc.string({ minLength: 1 }).map((text) => `r.${text}`),
        action: fc.constantFrom(...NUMBERS),
        previous: fc.string(),
        deposed: fc.string(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(resources, async (all) => {
        const keys = await keysOf(planFile(...all.map((each) => resource(each))));
        assert.deepEqual(
          keys,
          all.map(({ address, action, previous, deposed }) =>
            resourceKey(address, previous, deposed, ACTIONS[action]!),
          ),
        );
      }),
      { numRuns: 100 },
    );
  });

  test('T63: that is changed anywhere is read as another plan or refused in words, never anything else', async () => {
    const whole = planFile(
      CREATE,
      resource({ address: 'module.m["k"].a.b', action: 5, deposed: '01234567' }),
      field(4, Buffer.concat([field(1, 'o'), field(2, field(1, 1))])),
    );
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255), cut: fc.option(fc.nat(whole.length)) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        let bytes = Buffer.from(whole);
        for (const { at, byte, cut } of changes) {
          if (at < bytes.length) bytes[at] = byte;
          if (cut !== null) bytes = bytes.subarray(0, cut);
        }
        await keysOf(bytes).catch((error: Error) =>
          assert.match(error.message, /^The plan file could not be read: [^�]*\.$/),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('any message in it is read or refused in words', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await keysOf(planFile(Buffer.from(bytes))).catch((error: Error) =>
          assert.match(error.message, /^The plan file could not be read: /),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('T63: that two readers could read differently is refused', async () => {
    const message = planMessage(CREATE);
    await refused(
      zipOf([
        ['tfplan', message],
        ['tfplan', planMessage()],
      ]),
      /two entries/,
    );
    await refused(Buffer.concat([planFile(CREATE), Buffer.from('x')]), /not a zip/);
    await refused(Buffer.concat([planFile(CREATE), planFile()]), /one part/);
    await refused(zipOfTwo(planFile(CREATE), planFile(resource({ address: 'a.c', action: 5 }))), /ZIP64/);
    await refused(zipOf([['tfstate', message]]), /no entry tfplan/);
    await refused(zipOf([['tfplan', Buffer.concat([message, field(1, 3)])]]), /twice/);
    await refused(planFile(field(3, Buffer.concat([field(13, 'a.b'), field(13, 'a.c')]))), /twice/);
    await refused(
      planFile(field(3, Buffer.concat([field(13, 'a.b'), field(9, field(1, 1)), field(9, field(1, 5))]))),
      /twice/,
    );
    await refused(planFile(field(3, 7)), /damaged/);
    await refused(planFile(field(3, field(13, Buffer.from([0xff])))), /./);
  });

  test('of a form or with an action that is not known is refused', async () => {
    await refused(zipOf([['tfplan', Buffer.concat([field(1, 4), CREATE])]]), /format 3/);
    await refused(zipOf([['tfplan', CREATE]]), /format 3/);
    await refused(planFile(resource({ address: 'a.b', action: 4 })), /action 4/);
    await refused(planFile(resource({ address: 'a.b', action: 10 })), /action 10/);
    await refused(planFile(resource({ address: '', action: 1 })), /no address/);
    assert.deepEqual(await keysOf(planFile(resource({ address: 'a.b', action: 9 })), 'tofu'), [
      resourceKey('a.b', '', '', 'open'),
    ]);
  });

  test('Data that is deleted from the state is shown by no tool; a resource that looks like it is', async () => {
    for (const address of ['data.a.b', 'module.m.data.a.b[0]', 'module.m["x\\"].y"].module.n[1].data.a.b'])
      assert.equal(await deleted(address), 0, address);
    for (const address of [
      'a.data',
      'module.m["data.a.b"].a.b',
      'module.m["x"].a.data["k"]',
      'module.data.a.b',
      'a.b["].data.c.d"]',
    ])
      assert.equal(await deleted(address), 1, address);
  });
});

describe('What is shown of a plan', () => {
  const one: PlannedResource = { address: 'a.b', action: 6, previous: 'a.c', deposed: '0' };

  test('T63: that differs in anything is refused, and the refusal names no address', async () => {
    const file = await keysOf(planFile(resource(one), resource(one)));
    refuseOtherPlan(shown(one, one), file);
    const others: PlannedResource[][] = [
      [],
      [one],
      [one, one, one],
      ...[{ address: 'a.x' }, { action: 7 }, { previous: 'a.x' }, { deposed: '1' }].map((change) => [
        one,
        { ...one, ...change },
      ]),
    ];
    for (const other of others)
      assert.throws(
        () => refuseOtherPlan(shown(...other), file),
        (error: Error) => /showed another plan/.test(error.message) && !/a\.[bcx]/.test(error.message),
      );
    assert.throws(
      () => refuseOtherPlan({ ...shown(one, one), output_changes: { o: { actions: ['create'] } } }, file),
      /0 changes of the file not shown, 1 shown change not/,
    );
  });

  test('that is no plan is refused in words', () => {
    for (const odd of [
      { resource_changes: 1 },
      { resource_changes: [1] },
      { resource_changes: [{ address: 1 }] },
      { resource_changes: [{ address: 'a', change: { actions: [1] } }] },
    ]) {
      assert.throws(() => refuseOtherPlan(odd, []), /The plan could not be read/);
    }
  });
});
