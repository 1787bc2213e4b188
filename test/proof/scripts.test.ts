/** What the programs that package.json starts do with their arguments. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { patient } from '../support/measure/slowness.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** Each script that is a program, and its file. One that gives the runner its arguments has no usage. */
const PROGRAMS = Object.entries(scripts).flatMap(([name, command]) => {
  const file = / node (?:--\S+ )*(\S+\.ts)$/.exec(command)?.[1];
  return file === undefined ? [] : [{ name, file }];
});

function run(file: string, ...args: readonly string[]): { code: number | null; output: string; errors: string } {
  const words = ['--disable-warning=ExperimentalWarning', file, ...args];
  const done = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8', timeout: Math.ceil(patient(60_000)) });
  return { code: done.status, output: done.stdout, errors: done.stderr };
}

describe('Of the scripts of package.json,', () => {
  for (const { name, file } of PROGRAMS) {
    const command = name === 'test' ? 'npm test' : `npm run ${name}`;

    it(`${name} prints its usage for --help, and does nothing else`, () => {
      const { code, output, errors } = run(file, '--help');
      assert.match(output, new RegExp(`^Usage: ${command}( |\n)`));
      assert.deepEqual([code, errors], [0, '']);
    });

    it(`${name} refuses an unknown option with a sentence`, () => {
      const { code, output, errors } = run(file, '--bogus');
      assert.match(errors, new RegExp(`^Unknown option '--bogus'\\.\nUsage: ${command}( |\n)`));
      assert.deepEqual([code, output], [2, '']);
    });
  }
});
