/** No field of an export is lost in silence: it decides something of the new file, or the report names it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WHOLE_EXPORTS } from '../../../../../test/support/configuration/whole-exports.ts';
import { readConfigFile } from '../../../../domain/configuration/file.ts';
import { Failure } from '../../../../domain/failure.ts';
import { loadSections } from '../../../../operations/areas.ts';
import { writeConfigFile } from '../../../../operations/configuration/write-file.ts';
import { IMPORTERS } from './importers.ts';

const NOW = Date.UTC(2026, 0, 1);

/** Lists whose objects are left out as they are, each with its name. */
const LEFT_OUT = ['credentials', 'workflow_job_templates', 'notification_templates', 'keys', 'integrations'];

type Path = readonly (string | number)[];

/** Everything that the importer says of a file. */
async function resultOf(from: string, value: unknown): Promise<string> {
  const importer = IMPORTERS[from] ?? assert.fail();
  try {
    const { checks, schedules, notes } = await importer(JSON.stringify(value), NOW);
    return JSON.stringify([[...checks], [...schedules], notes]);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error.message;
  }
}

/** The value with another one at the path, or without the field. */
function changed(value: unknown, [step, ...path]: Path, change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value)) return value.map((each: unknown, n) => (n === step ? changed(each, path, change) : each));
  assert.ok(typeof value === 'object' && value !== null);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, name === step ? changed(each, path, change) : each]),
  );
}

/** Another value of the same form. */
function another(old: unknown): unknown {
  if (typeof old === 'boolean') return !old;
  if (typeof old === 'number') return old + 1;
  if (typeof old === 'string') return `${old}x`;
  return Array.isArray(old) ? [...old.map(another), 'x'] : { ...(old as object), other: 'x' };
}

/** Fields whose absence and whose value change nothing. What the report only names is not looked into. */
async function silentFields(from: string, file: object): Promise<string[]> {
  const standard = await resultOf(from, file);
  const silent: string[] = [];
  const look = async (value: unknown, path: Path): Promise<void> => {
    const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value as object);
    for (const step of steps) {
      const at = [...path, step];
      if (path.length === 0 && LEFT_OUT.includes(String(step))) continue;
      const each: unknown = Reflect.get(value as object, step);
      const isOther = (await resultOf(from, changed(file, at, another))) !== standard;
      if (typeof step === 'string') {
        const without = changed(file, at, () => undefined);
        if (!isOther && (await resultOf(from, without)) === standard) silent.push(at.join('.'));
      }
      const isRead = isOther || (await resultOf(from, changed(file, at, inside))) !== standard;
      if (isRead && typeof each === 'object' && each !== null) await look(each, at);
    }
  };
  await look(file, []);
  return silent;
}

/** The value with a change of what is in it. */
function inside(old: unknown): unknown {
  if (typeof old !== 'object' || old === null) return old;
  return Array.isArray(old)
    ? old.map(inside)
    : Object.fromEntries(Object.entries(old).map(([n, v]) => [n, another(v)]));
}

describe('No field is lost in silence', () => {
  for (const [from, file] of Object.entries(WHOLE_EXPORTS)) {
    test(`in a file of ${from} with every field`, async () => {
      assert.deepEqual(await silentFields(from, file), []);
    });

    test(`in a file of ${from} with a field that no version has, in any object that is imported`, async () => {
      const importer = IMPORTERS[from] ?? assert.fail();
      const [list = ''] = ['job_templates', 'endpoints', 'monitorList', 'templates'].filter((name) => name in file);
      const first = changed(file, [list, 0], (old) => ({ ...(old as object), 'no-such': false }));
      const { notes } = await importer(JSON.stringify({ ...(first as object), 'none-such': 0 }), NOW);
      assert.ok(notes.some((note) => /^file: fields left out: .*\bnone-such\b/.test(note)));
      assert.ok(notes.some((note) => /left out: .*\bno-such\b/.test(note)));
    });

    test(`and svc config apply reads what comes of ${from}`, async () => {
      const importer = IMPORTERS[from] ?? assert.fail();
      const { checks, schedules } = await importer(JSON.stringify(file), NOW);
      const text = await writeConfigFile(null, { checks, schedules });
      const sections = await loadSections();
      const { entries } = await readConfigFile(text, [...sections.keys()]);
      assert.ok(entries.length > 0);
      for (const { section, map } of entries)
        await (sections.get(section) ?? assert.fail()).read(map, (value) => value);
    });
  }
});
