/** The rules for source files, and of each the samples that it must forbid and must let pass. */
import { doorRule } from './doors.ts';
import { fileAccessRule } from './file-access.ts';
import { KIND_SAMPLES } from './kind-samples.ts';
import { kindImportRule, kindRule } from './kinds.ts';
import { layerRule } from './folders/layers.ts';
import { DURATION_SAMPLES, durationRule } from './durations.ts';
import { evalRule, shellRule } from './processes.ts';
import { operationIdRule } from './operation-ids.ts';
import { PATH_PART_SAMPLES, pathPartRule } from './path-parts.ts';
import { sqlRule } from './queries.ts';
import { FUNCTION_LINES_MAX, functionLengthRule } from './sizes.ts';
import { at, type Samples, type SourceRule } from './source.ts';
import { LANE_SAMPLES, noMarksRule, noMeasureRule, noWallTimeRule, suiteHooksRule, uniqueTitlesRule } from './tests.ts';

export const SOURCE_RULES = {
  'imports only what its layer may': layerRule,
  'takes time, chance and the environment by the door': doorRule,
  'reaches the files of a run by descriptor only': fileAccessRule,
  'joins paths of checked parts': pathPartRule,
  'starts no shell': shellRule,
  'turns no text into code': evalRule,
  'holds SQL only in the store': sqlRule,
  'knows a kind of job only in the area of the kind': kindRule,
  'imports the area of a kind only in a table': kindImportRule,
  'compares no id of an operation': operationIdRule,
  'writes a duration as flags take it': durationRule,
  'has no function longer than a screen': functionLengthRule,
  'leaves no test marked only, skip or todo': noMarksRule,
  'has no test title twice': uniqueTitlesRule,
  'has its hooks inside suites in npm test': suiteHooksRule,
  'measures no process in npm test': noMeasureRule,
  'asserts no wall time in npm test': noWallTimeRule,
} satisfies Record<string, SourceRule>;

const lines = (count: number): string => 'x();\n'.repeat(count);

export const SAMPLES: Readonly<Record<keyof typeof SOURCE_RULES, Samples>> = {
  'writes a duration as flags take it': DURATION_SAMPLES,
  'joins paths of checked parts': PATH_PART_SAMPLES,
  'imports only what its layer may': {
    bad: [
      ...at('src/lib/a.ts', "import { x } from '../domain/b.ts';"),
      ...at('src/domain/a.ts', "import type { X } from '../store/b.ts';", "export * from '../store/b.ts';"),
      ...at(
        'src/store/a.ts',
        "import { x } from '../probes/b.ts';",
        "import '../push/b.ts';",
        "import { x } from '../../test/b.ts';",
      ),
      ...at(
        'src/runners/command/a.ts',
        "const b = await import('../../store/b.ts');",
        "type B = import('../../store/b.ts').B;",
      ),
      ...at('src/operations/a.ts', "import { x } from '../runners/b.ts';", "import type { Kysely } from 'kysely';"),
      ...at('src/faces/http/a.ts', "import { x } from '../../store/b.ts';", 'const b = await import(name);'),
      ...at('src/daemon/a.ts', "import { x } from '../faces/b.ts';", "import { x } from '../app.ts';"),
      ...at(
        'src/doctor/a.ts',
        "import { x } from '../operations/b.ts';",
        "import { DatabaseSync } from 'node:sqlite';",
      ),
      ...at('src/misc/a.ts', 'export const x = 1;'),
    ],
    good: [
      ...at('src/store/a.ts', "import { x } from '../domain/b.ts'; import { y } from './c.ts'; import pg from 'pg';"),
      ...at('src/faces/cli/a.ts', "import { x } from '../../operations/b.ts'; import * as z from 'zod';"),
      ...at('src/app.ts', "import { x } from './store/b.ts'; import { y } from './faces/http/c.ts';"),
      ...at('src/domain/a.test.ts', "import { x } from '../../test/support/b.ts';"),
      ...at('test/stories/a.test.ts', "import { x } from '../../src/store/b.ts';"),
    ],
  },
  'takes time, chance and the environment by the door': {
    bad: [
      ...at(
        'src/domain/a.ts',
        'Date.now();',
        'new Date();',
        'Date();',
        'performance.now();',
        'Math.random();',
        'const m = { now: Date.now };',
      ),
      ...at(
        'src/daemon/a.ts',
        'setTimeout(f, 1);',
        'globalThis.setInterval(f, 1);',
        'const later = setTimeout;',
        'start({ setTimeout });',
      ),
      ...at(
        'src/store/a.ts',
        'process.env.HOME;',
        "process['env'];",
        'const { env } = process;',
        'globalThis.process.env;',
        'process.hrtime.bigint();',
      ),
      ...at(
        'src/push/a.ts',
        "import { setTimeout as sleep } from 'node:timers/promises';",
        "import { env } from 'node:process';",
      ),
    ],
    good: [
      ...at('src/lib/clock.ts', 'Date.now(); setTimeout(f, 1);'),
      ...at('src/config/read.ts', 'process.env;'),
      ...at('src/runners/process/guard-child.ts', 'process.env;'),
      ...at(
        'src/domain/a.ts',
        'new Date(5); // Date.now()',
        "const text = 'Date.now()';",
        'socket.setTimeout(5);',
        'setImmediate(f);',
      ),
      ...at(
        'src/domain/b.ts',
        'let timer: ReturnType<typeof setTimeout>;',
        'clock.now(); job.env; const { env } = job;',
      ),
      ...at('src/domain/a.test.ts', 'Date.now();'),
      ...at('scripts/a.ts', 'process.env;'),
    ],
  },
  'reaches the files of a run by descriptor only': {
    bad: [
      ...at(
        'src/runners/terraform/state-file.ts',
        "import { open } from 'node:fs/promises';",
        "const fs = await import('node:fs');",
      ),
      ...at('src/runners/playbook/a.ts', "import * as fs from 'fs';", "export { rm } from 'fs/promises';"),
      ...at('src/daemon/workspaces/states.ts', "import { readFileSync } from 'node:fs';", "const fs = require('fs');"),
    ],
    good: [
      ...at('src/runners/run-files/folder.ts', "import { open } from 'node:fs/promises';"),
      ...at('src/runners/process/process-table.ts', "import { open } from 'node:fs/promises';"),
      ...at(
        'src/runners/terraform/state-file.ts',
        "import { readRunFile } from '../run-files/run-files.ts';",
        "import { open } from './fs.ts';",
      ),
      ...at('src/runners/terraform/state-file.test.ts', "import { open } from 'node:fs/promises';"),
      ...at('src/config/a.ts', "import { open } from 'node:fs/promises';"),
    ],
  },
  'starts no shell': {
    bad: [
      ...at(
        'src/runners/a.ts',
        "spawn('git', [], { shell: true });",
        "spawn('git', [], { shell: '/bin/bash' });",
        'const options = { shell: true };',
      ),
      ...at(
        'src/runners/b.ts',
        "import { exec } from 'node:child_process';",
        "import { execSync as run } from 'child_process';",
        'childProcess.exec(text);',
      ),
      ...at('src/lib/a.ts', "spawn('sh', ['-c', text]);", "cp.spawnSync('/bin/bash', ['-lc', text]);"),
      ...at('test/a.test.ts', 'cp.execSync(text);'),
    ],
    good: at(
      'src/runners/a.ts',
      "import { spawn } from 'node:child_process'; spawn('git', ['-c', 'a=b'], { shell: false });",
      '/a/.exec(text);',
      "const words = ['sh', '-c', text];",
      "complete({ shell: 'bash' });",
    ),
  },
  'turns no text into code': {
    bad: at(
      'src/domain/a.ts',
      'eval(text);',
      "new Function('a', text);",
      'Function(text);',
      "import vm from 'node:vm';",
    ),
    good: at('src/domain/a.ts', '// eval(text)', 'cel.evaluate(text);', 'type F = Function;'),
  },
  'holds SQL only in the store': {
    bad: [
      ...at(
        'src/daemon/a.ts',
        "run('SELECT id FROM jobs WHERE state = 1');",
        "run('select * from jobs');",
        'run(`UPDATE jobs SET state = ${x}`);',
      ),
      ...at(
        'src/operations/a.ts',
        "run('insert into jobs (id) values (1)');",
        "run('DELETE FROM jobs');",
        "run('pragma user_version');",
      ),
      ...at(
        'src/doctor/a.ts',
        'sql`vacuum`;',
        "db.selectFrom('jobs');",
        "db.updateTable('jobs');",
        "run('BEGIN IMMEDIATE');",
      ),
    ],
    good: [
      ...at('src/store/a.ts', "run('SELECT id FROM jobs'); db.selectFrom('jobs');"),
      ...at(
        'src/faces/a.ts',
        "say('Select a job from the list.');",
        "say('Update the settings.');",
        "say('Delete from here what you like');",
        '// SELECT 1',
      ),
      ...at('test/a.test.ts', "run('SELECT 1');"),
    ],
  },
  ...KIND_SAMPLES,
  'has no function longer than a screen': {
    bad: at(
      'src/domain/a.ts',
      `function f() {\n${lines(FUNCTION_LINES_MAX)}}`,
      `const f = () => {\n${lines(80)}};`,
      `class A { get b() {\n${lines(80)}return 1; } }`,
    ),
    good: [
      ...at(
        'src/domain/a.ts',
        `function f() {\n${lines(FUNCTION_LINES_MAX - 2)}}`,
        `const table = {\n${'a: 1,\n'.repeat(90)}};`,
      ),
      ...at('src/domain/a.test.ts', `describe('a', () => {\n${lines(90)}});`),
    ],
  },
  'leaves no test marked only, skip or todo': {
    bad: at(
      'src/domain/a.test.ts',
      "test.only('a', f);",
      "describe.skip('a', f);",
      "test('a', { skip: true }, f);",
      "it('a', { skip: 'later' }, f);",
      "test('a', { only: true }, f);",
      "test('a', (t) => t.skip());",
      "test('a', { todo: 'b' }, f);",
    ),
    good: at(
      'src/domain/a.test.ts',
      "test('a', { skip: lacksLandlock && 'The kernel has no Landlock.' }, f);",
      "test('a', { timeout: 5 }, f);",
      'query.skip(5);',
      'assert.deepEqual(x, { skip: true });',
    ),
  },
  'has no test title twice': {
    bad: at('src/domain/a.test.ts', "test('a', f); test('a', g);", "describe('d', () => { it('a', f); it('a', g); });"),
    good: at(
      'src/domain/a.test.ts',
      "describe('d', () => { it('a', f); }); describe('e', () => { it('a', f); });",
      "test('a', f); test('b', f);",
    ),
  },
  ...LANE_SAMPLES,
};
