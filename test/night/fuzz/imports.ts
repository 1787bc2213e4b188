/** Exports of other programs with each field that they can have, some of them changed, and some added. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { loadSections } from '../../../src/operations/areas.ts';
import { writeConfigFile } from '../../../src/operations/configuration/write-file.ts';
import { readConfigFile } from '../../../src/domain/configuration/file.ts';
import { IMPORTERS } from '../../../src/faces/cli/configuration/import/importers.ts';
import { WHOLE_EXPORTS } from '../../support/configuration/whole-exports.ts';
import { type FuzzTarget, fuzzTarget, unlessRefused } from './target.ts';

/** What another program, another version or a person may have written in place of a value. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1e300,
  '',
  'x',
  '{}',
  '[]',
  '---',
  '&a [*a]',
  '$encrypted$',
  'web1',
  [],
  ['web1'],
  [null],
  {},
  { name: 'x' },
  'DTSTART:20250101T040000Z RRULE:FREQ=DAILY',
];
/** Its lists of objects that are imported, by program. */
const LISTS = ['job_templates', 'endpoints', 'monitorList', 'templates'];
const ADDED = 'added-field';
const CHANGES_MAX = 4;

interface Change {
  /** Which of the children, at each level. */
  readonly steps: readonly number[];
  readonly value: unknown;
}

const changes = fc.array(
  fc.record({ steps: fc.array(fc.nat(99), { minLength: 1, maxLength: 8 }), value: fc.constantFrom(...VALUES) }),
  { maxLength: CHANGES_MAX },
);

/** The value with another one at the end of the steps. */
function changed(value: unknown, { steps, value: other }: Change): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== 'object' || value === null) return other;
  const entries = Object.entries(value);
  const [chosen] = entries[step % Math.max(1, entries.length)] ?? [];
  const next = entries.map(([name, each]) =>
    name === chosen ? ([name, changed(each, { steps: rest, value: other })] as const) : ([name, each] as const),
  );
  return Array.isArray(value) ? next.map(([, each]) => each) : Object.fromEntries(next);
}

/** The export with a field that no version has, in each object that is imported. */
function withField(file: unknown): unknown {
  if (typeof file !== 'object' || file === null) return file;
  const entries = Object.entries(file).map(([name, list]: [string, unknown]) => {
    if (!LISTS.includes(name) || !Array.isArray(list)) return [name, list];
    return [name, list.map((each: unknown) => (isObject(each) ? { ...each, [ADDED]: false } : each))];
  });
  return Object.fromEntries(entries) as unknown;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const IMPORT_TARGETS: readonly FuzzTarget[] = Object.entries(WHOLE_EXPORTS).map(([from, whole]) =>
  fuzzTarget(
    `import-whole-${from}`,
    changes.map((all) => JSON.stringify(withField(all.reduce<unknown>(changed, whole)))),
    async (text) => {
      const found = await unlessRefused(() => IMPORTERS[from]?.(text, Date.UTC(2026, 0, 1)));
      if (found === undefined) return;
      const { checks, schedules, notes } = found;
      assert.ok(checks.size + schedules.size === 0 || notes.some((note) => note.includes(ADDED)), 'a field is lost');
      const sections = await loadSections();
      const written = await writeConfigFile(null, { checks, schedules });
      const { entries } = await readConfigFile(written, [...sections.keys()]);
      for (const { section, map } of entries)
        await (sections.get(section) ?? assert.fail()).read(map, (value) => value);
    },
    { baseMs: 500, perCharacterMs: 0.05 },
  ),
);
