/** Adding a workspace by the command line. */
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { refusal } from '../../support/refusal.ts';
import { audited } from '../../support/fixtures/workspaces.ts';
import { call, directory, addSource, start } from '../../support/fixtures/workspace-commands.ts';

describe('Adding a workspace', () => {
  test('A directory is kept as an absolute path, however it was named', async (t) => {
    const program = await start(t);
    const root = directory(program, 'net');
    const added = await call(program, 'add', {
      name: 'net',
      dir: relative(process.cwd(), root),
      protect_destroy: true,
    });
    assert.deepEqual(added, {
      name: 'net',
      source: null,
      path: root,
      serial: null,
      drift: 'unknown',
      drift_checked_at: null,
      last_plan_job_id: null,
      last_apply_job_id: null,
      locked_by: null,
      policy: { approve_when: null, deny_when: null, require_saved_plan: false, protect_destroy: true },
      inputs: { vars: [], var_files: [], run_secrets: [] },
    });
    assert.deepEqual(await call(program, 'get', { name: 'net' }), added);
    assert.deepEqual(await audited(program), {
      operation: 'workspace.add',
      target: 'net',
      detail: { source: null, require_saved_plan: false, protect_destroy: true },
    });
  });

  test('What is no directory is refused by its name', async (t) => {
    const program = await start(t);
    const file = join(directory(program, 'net'), 'main.tf');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below'), '/nowhere/at/all', '', `/tmp/a\nb`, `/${'x'.repeat(5_000)}`]) {
      await assert.rejects(call(program, 'add', { name: 'net', dir }), refusal('invalid_argument', /^dir: /), dir);
    }
  });

  test('T24: No run gets a copy of the data directory, of a part of it or of a folder that contains it', async (t) => {
    const program = await start(t);
    const data = directory(program, 'data');
    symlinkSync(data, join(dirname(data), 'innocent'));
    for (const dir of [data, directory(program, 'data/sources'), dirname(data), '/', join(dirname(data), 'innocent')]) {
      await assert.rejects(
        call(program, 'add', { name: 'net', dir }),
        refusal('invalid_argument', /^dir: must not be inside, or contain, the data directory/),
        dir,
      );
    }
  });

  test('Exactly one of a directory and a source is required, and a path needs a source', async (t) => {
    const program = await start(t);
    await addSource(program);
    await assert.rejects(call(program, 'add', { name: 'net' }), refusal('invalid_argument', /^dir, source: /));
    await assert.rejects(
      call(program, 'add', { name: 'net', dir: '/tmp', source: 'infra' }),
      refusal('invalid_argument', /^dir, source: /),
    );
    await assert.rejects(
      call(program, 'add', { name: 'net', dir: '/tmp', path: 'net' }),
      refusal('invalid_argument', /^path: /),
    );
    await assert.rejects(call(program, 'add', { name: 'net', source: 'other' }), refusal('not_found', /source other/));
    const added = await call(program, 'add', { name: 'net', source: 'infra', path: 'roots/net' });
    assert.deepEqual([added.source, added.path], ['infra', 'roots/net']);
    assert.equal((await call(program, 'add', { name: 'all', source: 'infra' })).path, '');
  });

  test('T24: A path leads nowhere but below the root of its source', async (t) => {
    const program = await start(t);
    await addSource(program);
    for (const path of [
      '..',
      '../x',
      'a/../..',
      '/etc',
      'a//b',
      './a',
      'a/',
      'a\\..\\b',
      'a\nb',
      '%2e%2e/x',
      '-chdir=/',
      '\u2025',
      'x'.repeat(500),
    ]) {
      await assert.rejects(
        call(program, 'add', { name: 'net', source: 'infra', path }),
        refusal('invalid_argument', /^path: /),
        path,
      );
    }
  });

  test('T14 T31: A name that only looks like another one is no name, and one that is equal is taken', async (t) => {
    const program = await start(t);
    const dir = directory(program, 'net');
    await call(program, 'add', { name: 'net', dir });
    await assert.rejects(call(program, 'add', { name: 'net', dir }), refusal('duplicate', /^name: /));
    const near = [
      'Net',
      'NET',
      'net ',
      ' net',
      'net\u200b',
      'n\u0435t',
      'ne\u0301t',
      'net\n',
      'net/',
      '-net',
      '-chdir=/',
      '.net',
      '..',
      '',
      'net\0',
      'workspace:net',
      'x'.repeat(64),
    ];
    for (const name of near)
      await assert.rejects(
        call(program, 'add', { name, dir }),
        refusal('invalid_argument', /^name: /),
        JSON.stringify(name),
      );
    assert.equal((await program.store.db.selectFrom('workspaces').select('name').execute()).length, 1);
  });

  test('A policy is checked when it is set, and its field is named', async (t) => {
    const program = await start(t);
    const dir = directory(program, 'net');
    for (const text of ['size(plan.destroys', 'plan.destroy.size() > 1', '1 + 1', 'nobody']) {
      await assert.rejects(
        call(program, 'add', { name: 'net', dir, deny_when: text }),
        refusal('invalid_argument', /^deny_when: /),
        text,
      );
      await assert.rejects(
        call(program, 'add', { name: 'net', dir, approve_when: text }),
        refusal('invalid_argument', /^approve_when: /),
        text,
      );
    }
    const { policy } = await call(program, 'add', {
      name: 'net',
      dir,
      approve_when: 'size(plan.changes) > 3',
      deny_when: '',
    });
    assert.deepEqual([policy.approve_when, policy.deny_when], ['size(plan.changes) > 3', null]);
  });
});
