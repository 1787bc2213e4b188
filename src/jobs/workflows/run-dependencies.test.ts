import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readYaml } from '../../domain/yaml/file.ts';
import { type StepAction, STEP_ACTIONS } from '../../domain/rules/step-actions.ts';
import { toJson } from '../../lib/json.ts';
import { runDependencies } from './run-dependencies.ts';

const FIELDS: Readonly<Record<Exclude<StepAction['kind'], 'workflow'>, readonly [string, readonly string[]]>> = {
  command: ['command: [id]\ninventory: lab', ['inventory:lab']],
  playbook: ['playbook: site.yml\nsource: ops\ninventory: lab', ['source:ops', 'inventory:lab']],
  plan: ['plan: net', ['workspace:net']],
  apply: ['apply: net', ['workspace:net']],
  destroy: ['destroy: net', ['workspace:net']],
  backup: ['backup: nightly', []],
};

const STEP = { needs: [], when: null, approval: 'none', approvalTtlMs: null } as const;

test('T84: the end of a run depends on what a step names whose job was refused, and not on later steps', async () => {
  for (const [text, subjects] of Object.values(FIELDS)) {
    const map = await readYaml(text);
    assert.ok(map.kind === 'map');
    const action = STEP_ACTIONS.read(map, [], '');
    const later: StepAction = { kind: 'plan', workspace: 'later', timeout: null };
    const steps = ['one', 'two', 'three'].map((name) => ({ ...STEP, name, action: name === 'two' ? action : later }));
    const run = { id: 'wfr_1', definition: toJson({ steps }) };
    const rows = [
      { name: 'one', state: 'succeeded', job_id: 'job_1' },
      { name: 'two', state: 'failed', job_id: null },
      { name: 'three', state: 'skipped', job_id: null },
    ] as const;
    assert.deepEqual(runDependencies(run, rows), ['run:wfr_1', 'job:job_1', ...subjects], text);
    for (const definition of ['', '{}', '{"steps":[{"name":"two","action":{"kind":"odd"}}]}'])
      assert.deepEqual(runDependencies({ ...run, definition: definition as typeof run.definition }, rows), [
        'run:wfr_1',
        'job:job_1',
      ]);
  }
});
