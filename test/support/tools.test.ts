import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { searchPathFor } from '../../scripts/test-path.ts';
import { missingTools, needs } from './tools.ts';

const ALERTMANAGER = 'test/stories/events/alertmanager.test.ts';
const FILES = [ALERTMANAGER, 'test/text/plan.test.ts'];

/** A machine without any program on its PATH, in CI or not. */
function bareMachine(t: TestContext, ci: string | undefined): void {
  for (const [name, value] of Object.entries({ PATH: '', CI: ci })) {
    const before = process.env[name];
    const set = (to: string | undefined): void => {
      if (to === undefined) delete process.env[name];
      else process.env[name] = to;
    };
    t.after(() => set(before));
    set(value);
  }
}

test('a test whose program is missing is left out, and one line names the program and the file', (t) => {
  bareMachine(t, undefined);
  assert.equal(needs('git', 'ssh', 'chromium').toString().startsWith('missing: git, ssh'), true);
  assert.deepEqual(missingTools(FILES), [{ name: 'prometheus-alertmanager', files: [ALERTMANAGER] }]);
  const write = t.mock.method(process.stderr, 'write', () => true);
  assert.equal(searchPathFor('/own', FILES), '/own');
  assert.deepEqual(
    write.mock.calls.map(({ arguments: [line] }) => line),
    [`Left out: tests that need prometheus-alertmanager, which is missing, in ${ALERTMANAGER}.\n`],
  );
});

test('in CI nothing is left out: a missing program is an error', (t) => {
  bareMachine(t, 'true');
  assert.equal(needs('git'), false);
  assert.throws(
    () => searchPathFor('/own', FILES),
    /CI leaves nothing out, .* prometheus-alertmanager, which is missing/,
  );
});
