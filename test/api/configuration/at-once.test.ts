/** `svc config apply` beside other changes: all of a file, or nothing of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { apply, changesOf, diff } from '../../support/configuration/config-files.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

/** All objects of a version differ from those of another. */
function site(version: number): string {
  return `set: site
rules:
  - name: one
    when: event.name == "v${version}"
    action:
      command: ["v${version}"]
      inventory: localhost
schedules:
  - name: two
    cron: "${version} * * * *"
    timezone: UTC
    command: ["v${version}"]
    inventory: localhost
`;
}

/** Runs `first` when the next write is about to begin, after what it does was prepared. */
function before(program: Program, first: () => Promise<unknown>): void {
  const store: { write: Store['write'] } = program.store;
  const write = store.write.bind(store);
  store.write = async (work) => {
    store.write = write;
    await first();
    return write(work);
  };
}

test('Two files at the same time leave one of them, and the other is refused', async (t) => {
  const program = await startProgram(t);
  await apply(program, site(1));
  before(program, () => apply(program, site(2)));
  await assert.rejects(
    apply(program, site(1)),
    refusal('conflict', /^The configuration was changed while the file was compared with it\./),
  );
  assert.deepEqual(changesOf(await diff(program, site(2))), []);
});

test('A change of what a file leaves as it is refuses the rest of the file', async (t) => {
  const program = await startProgram(t);
  await apply(program, site(1));
  const mixed = site(2).replace('event.name == "v2"', 'event.name == "v1"').replace('["v2"]', '["v1"]');
  assert.deepEqual(
    (await diff(program, mixed)).changes.map(({ name }) => name),
    ['two'],
  );
  before(program, () => apply(program, site(3)));
  await assert.rejects(apply(program, mixed), refusal('conflict'));
  assert.deepEqual(changesOf(await diff(program, site(3))), []);
});
