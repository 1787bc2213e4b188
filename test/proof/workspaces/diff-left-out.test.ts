/** A diff whose masks are not known, or that is too long to be held, with a tool around the real one. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HELD_MAX_BYTES } from '../../../src/runners/terraform/diff/diff-log.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { addWorkspace, items, linesOf, type RunVerb, runToEnd } from '../../support/infrastructure.ts';
import { find, needs } from '../../support/tools.ts';

const NAME = find('terraform') === null ? 'tofu' : 'terraform';
/** Does what the root has a file for. */
const TOOL = `#!/bin/sh
if [ "$1" = show ] && [ -e broken ]; then
  echo "no show" >&2
  exit 3
fi
if [ "$1" = plan ] && [ -e long ]; then
  echo "x: Refreshing state... [id=1]"
  head -c ${HELD_MAX_BYTES} /dev/zero | tr '\\0' x
fi
exec ${find(NAME) ?? NAME} "$@"
`;
const LEFT_OUT = 'The diff is left out of the log, because';

test(
  'T98: a diff that cannot be masked, or is too long, is left out with a line that says so',
  { skip: needs('terraform or tofu', 'Landlock ABI 4') },
  async (t) => {
    const fixture = await openFixture(t);
    const bin = join(fixture.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, NAME), TOOL);
    for (const path of [fixture.dir, bin, join(bin, NAME)]) chmodSync(path, 0o755);
    await fixture.start({ env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` } });
    for (const name of ['broken', 'long']) writeFileSync(join(await addWorkspace(fixture, name, items(1)), name), '');
    const run = async (verb: RunVerb, name: string) => {
      const job = await runToEnd(fixture, verb, name);
      const lines = await linesOf(fixture, job.id);
      const text = lines.join('\n').slice(-10_000);
      assert.deepEqual([lines.some((line) => /will be (?:created|destroyed)|xxx/.test(line)), text], [false, text]);
      return { job, text };
    };
    const broken = await run('plan', 'broken');
    assert.equal(broken.job.state, 'failed');
    assert.equal(broken.job.reason, 'The program ended with exit code 3.');
    assert.ok(broken.text.includes(`${LEFT_OUT} its plan could not be read`), broken.text);
    const applied = await run('apply', 'broken');
    assert.equal(applied.job.state, 'succeeded', applied.text);
    assert.ok(applied.text.includes(`${LEFT_OUT} its plan could not be read`), applied.text);
    assert.match(applied.text, /The output may show values that were sensitive[^]*Apply complete! Resources: 1 added/);
    const long = await run('plan', 'long');
    assert.equal(long.job.state, 'succeeded', long.text);
    assert.match(long.text, /Refreshing state[^]*because it is longer than 16 MiB[^]*Planned: .* 1 to create/);
  },
);
