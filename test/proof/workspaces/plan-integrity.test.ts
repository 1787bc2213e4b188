/** The plan that is shown is the plan that is sealed and applied, whatever programs of the run do. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { findRunDir, jobIdOf } from '../../../src/runners/run-dir.ts';
import { findTool } from '../../../src/runners/terraform/tool.ts';
import { until } from '../../support/api-client.ts';
import { runsDirFor } from '../../support/daemon.ts';
import { addWorkspace, linesOf, planViewOf, runToEnd } from '../../support/infrastructure.ts';
import { keptState } from '../../support/faults/kept-state.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const ROOT = `
variable "content" { default = "good" }
resource "terraform_data" "item" { for_each = toset([var.content]) }
`;

/**
 * Stands for a tool whose provider is hostile: it works as the file `attack` in the root says. A process that escaped
 * from it is played by the test, because the sandbox lets none escape. Each wait ends after 5 s. The real tool follows
 * the script in the same file, because the sandbox opens no other file outside of the system's folders.
 */
const toolText = (realBytes: number): string => `#!/bin/sh
attack=$(cat attack)
real=$HOME/real
[ -e "$real" ] || { tail -c ${realBytes} "$0" > "$real" && chmod 700 "$real"; } || exit
for last; do :; done
case "$attack $1" in
"swap plan")
  "$real" "$@" || exit
  "$real" plan -input=false -no-color -var content=evil "-out=$HOME/evil.tfplan" || exit
  ;;
"swap show")
  "$real" "$@" || exit
  cp "$HOME/evil.tfplan" "$last" 2> /dev/null && echo overwritten >&2
  mv "$HOME/evil.tfplan" "$last" 2> /dev/null && echo replaced >&2
  : > "$HOME/shown"
  n=0; while [ ! -e "$HOME/swapped" ] && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.05; done
  [ -e "$HOME/swapped" ] && echo swapped >&2
  ;;
"swap apply")
  rm -f "$last" 2> /dev/null && echo removed >&2
  exec "$real" "$@"
  ;;
"lie show")
  "$real" "$@" | sed 's/"actions":\\["create"\\]/"actions":["no-op"]/'
  ;;
"hide show")
  echo '{"format_version":"1.2","resource_changes":[]}'
  ;;
"other plan")
  "$real" "$@" || exit
  echo 'no plan at all' > "$HOME/saved.tfplan"
  ;;
"link plan")
  "$real" "$@" || exit
  mv "$HOME/saved.tfplan" "$HOME/elsewhere"; ln -s "$HOME/elsewhere" "$HOME/saved.tfplan"
  ;;
*) exec "$real" "$@" ;;
esac
exit
`;

/** As soon as the plan has been shown, the other one takes its place. */
async function swapPlans({ dir }: Fixture): Promise<void> {
  const runs = runsDirFor(join(dir, 'data'));
  const run = await until('a plan is shown', () => {
    const places = readdirSync(runs)
      .flatMap((name) => jobIdOf(name) ?? [])
      .map((id) => findRunDir(runs, id));
    return places.find((place) => existsSync(join(place, 'shown'))) ?? null;
  });
  renameSync(join(run, 'evil.tfplan'), join(run, 'saved.tfplan'));
  writeFileSync(join(run, 'swapped'), '');
}

describe('A hostile program of a run', { skip: needs('terraform or tofu') }, () => {
  let fixture: Fixture;
  const endings: (() => Promise<void>)[] = [];

  before(async () => {
    const searchPath = process.env['PATH'] ?? '';
    const { name, path } = (await findTool(searchPath)) ?? assert.fail('neither terraform nor tofu is on PATH');
    const real = readFileSync(path);
    fixture = await openFixture({ after: (step) => void endings.push(step) });
    const bin = join(fixture.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, name), Buffer.concat([Buffer.from(toolText(real.length)), real]), { mode: 0o755 });
    chmodSync(fixture.dir, 0o755);
    await fixture.start({ env: { PATH: `${bin}:${searchPath}` } });
    for (const attack of ['swap', 'lie', 'hide', 'other', 'link']) {
      mkdirSync(join(fixture.dir, attack));
      writeFileSync(join(fixture.dir, attack, 'attack'), attack);
      await addWorkspace(fixture, attack, ROOT);
    }
  });
  test.after(async () => {
    for (const step of endings.toReversed()) await step();
  });

  test('T63: renames another plan over the plan file: what was shown is sealed, and is what is applied', async () => {
    const [job] = await Promise.all([runToEnd(fixture, 'plan', 'swap'), swapPlans(fixture)]);
    const lines = await linesOf(fixture, job.id);
    assert.equal(job.state, 'succeeded', lines.join('\n'));
    assert.deepEqual(
      lines.filter((line) => ['overwritten', 'replaced'].includes(line)),
      [],
    );
    const id = job.plan_artifact_id ?? assert.fail();
    assert.deepEqual(
      (await planViewOf(fixture, id)).creates.map(({ address }) => address),
      ['terraform_data.item["good"]'],
    );
    const applied = await runToEnd(fixture, 'apply', 'swap', { plan: id });
    assert.equal(applied.state, 'succeeded', (await linesOf(fixture, applied.id)).join('\n'));
    assert.equal((await linesOf(fixture, applied.id)).includes('removed'), false);
    assert.deepEqual([...((await keptState(fixture, 'swap'))?.resources.keys() ?? [])], ['item[good]']);
  });

  const refusals: Readonly<Record<string, readonly [what: string, why: RegExp]>> = {
    lie: [
      'shows another action',
      /showed another plan .* 1 change of the file not shown, 1 shown change not in the file/,
    ],
    hide: ['shows less than there is', /showed another plan .* 1 change of the file not shown, 0 shown changes/],
    other: ['leaves something that is no plan', /The plan file could not be read: it is not a zip archive/],
    link: ['leaves a link in place of the plan', /The tool left no plan file/],
  };
  for (const [attack, [what, why]] of Object.entries(refusals)) {
    test(`T63: ${what}: the run fails and says so`, async () => {
      const job = await runToEnd(fixture, 'plan', attack);
      const lines = (await linesOf(fixture, job.id)).join('\n');
      assert.deepEqual([job.state, job.plan_artifact_id], ['failed', null], lines);
      assert.match(lines, why);
    });
  }
});
