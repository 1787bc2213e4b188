import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ENVIRONMENTS } from '../../support/demo/environments.ts';
import { makePlace, runDemo } from '../../support/demo/run.ts';

/** How each story ends, and what it says on its way. */
const STORIES = {
  sandboxed: {
    code: 0,
    says: [
      /\n5\. The job succeeded/,
      /\n12\. The job succeeded/,
      /Planned: 0 to destroy, 1 to replace[^]*is awaiting_approval[^]*Approved at[^]*1 destroyed/,
      /\n20\. The job succeeded/,
    ],
    saysNot: [/privileged/, /Left out/],
  },
  privileged: {
    code: 0,
    says: [
      /\n {3}Jobs cannot be sandboxed on this machine: .*Landlock.*\.\n/,
      /\n {3}So the jobs of this demo are privileged: /,
      /\n5\. The job succeeded/,
      /\n12\. The job succeeded/,
      /\nLeft out: a plan and its approved apply\. They run in the sandbox only\.\n/,
    ],
    saysNot: [/The demo ended early/],
  },
  'no space': { code: 1, says: [/\nThe demo ended early: .*(space|full).*\.\n/], saysNot: [] },
} as const;

describe('The demo tells its story', () => {
  for (const { name, story, skip, words, env } of ENVIRONMENTS)
    it(name, { skip }, async (t) => {
      const place = makePlace(t);
      const { code, says, saysNot } = STORIES[story];
      const run = await runDemo(t, place, words(place, t), { env: env?.(place) ?? {} });
      assert.equal(run.code, code, run.output);
      if (code === 0) assert.equal(run.errors, '');
      for (const each of says) assert.match(run.output, each);
      for (const each of [...saysNot, /\n\s+at /, /TypeError/]) assert.doesNotMatch(run.output, each);
      assert.deepEqual(readdirSync(place.temporary), []);
    });
});
