import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AREAS, loadOperation } from './areas.ts';
import { OPERATIONS } from './table.ts';

test('each operation is found without loading the whole table', async () => {
  const strangers = [];
  for (const { id } of OPERATIONS) if ((await loadOperation(id).catch(() => null))?.id !== id) strangers.push(id);
  assert.deepEqual(strangers, [], 'the area of these operations lacks their ids');
  await assert.rejects(loadOperation('job.dance'), /there is no operation job[.]dance/);
});

test('no two areas have the same noun, id, place in the lists, place in the help, or record of the ledger', () => {
  const nouns = AREAS.flatMap((area) => Object.entries(area.nouns));
  const sections = AREAS.flatMap((area) => Object.entries(area.sections ?? {}));
  const taken: readonly (readonly string[])[] = [
    nouns.map(([name]) => name),
    nouns.map(([, { place }]) => String(place)),
    nouns.map(([, { help }]) => help.join(' ')),
    AREAS.flatMap(({ ids = [] }) => ids),
    AREAS.flatMap(({ audited = {} }) => Object.keys(audited)),
    sections.map(([name]) => name),
    sections.map(([, { place }]) => String(place)),
  ];
  const twice = taken.flatMap((keys) => keys.filter((key, index) => keys.indexOf(key) !== index));
  assert.deepEqual(twice, []);
});
