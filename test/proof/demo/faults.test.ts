import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { daemonOf, demoOf, makePlace, runDemo } from '../../support/demo/run.ts';

/** What happens to the daemon when the first job prints its first line, and the sentence that the demo ends with. */
const FAULTS = [
  { name: 'is killed', signal: 'SIGKILL', says: /\nThe demo ended early: the daemon ended with 137\.\n/ },
  {
    name: 'is frozen',
    signal: 'SIGSTOP',
    says: /\nThe demo ended early: the (end|answer|notification) of \S+ did not come within \d+[sm]\.\n/,
  },
] as const;

describe('The demo ends with a sentence and leaves nothing behind where its daemon', () => {
  for (const { name, signal, says } of FAULTS)
    it(name, async (t) => {
      const place = makePlace(t);
      const run = await runDemo(t, place, demoOf(), {
        onLine(line) {
          if (line.includes('step 1 of 3')) process.kill(daemonOf(place), signal);
        },
      });
      assert.match(run.output, says);
      assert.doesNotMatch(run.output, /\n\s+at /);
      assert.equal(run.code, 1);
      assert.deepEqual(readdirSync(place.temporary), []);
    });
});
