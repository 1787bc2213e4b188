import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure, type FailureCode } from '../failure.ts';
import { STEP_ACTIONS } from '../rules/step-actions.ts';
import { readWorkflowFile } from './file.ts';
import { STEPS_MAX } from './workflow.ts';

const read = (text: string) => readWorkflowFile(text, STEP_ACTIONS);

async function refused(text: string, message: RegExp, code: FailureCode = 'invalid_argument'): Promise<void> {
  await assert.rejects(read(text), (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message, text);
    return true;
  });
}

const UPTIME = 'command: [uptime], inventory: localhost';
/** A file with these steps, one a line from line 2 on. */
const file = (...steps: readonly string[]): string => `steps:\n${steps.map((step) => `  - {${step}}\n`).join('')}`;
const step = (name: string, more = ''): string => `name: ${name}, ${UPTIME}${more}`;

/** A step with as many `${…}`. */
const values = (count: number): string => `name: a, command: [echo${', "${event.name}"'.repeat(count)}], inventory: x`;

describe('A workflow file', () => {
  test('is read with its steps, their needs and their actions', async () => {
    const text = [
      'name: patch-and-check',
      'steps:',
      '  - name: patch',
      '    command: [/usr/bin/apt-get, upgrade]',
      '    inventory: localhost',
      '    timeout: 30m',
      '  - name: look',
      '    needs: [patch]',
      '    when: steps.patch.state in ["succeeded", "degraded"]',
      '    command: ["uptime"]',
      '    inventory: localhost',
      '  - name: check',
      '    needs: []',
      '    plan: net',
      '  - name: roll-on',
      '    needs: [look, check]',
      '    approval: required',
      '    approval_ttl: 30m',
      '    apply: net',
    ].join('\n');
    const plain = { when: null, approval: 'none', approvalTtlMs: null };
    const command = { kind: 'command', inventory: 'localhost', limit: null };
    assert.deepEqual(await read(text), {
      name: 'patch-and-check',
      steps: [
        {
          ...plain,
          name: 'patch',
          needs: [],
          action: { ...command, command: ['/usr/bin/apt-get', 'upgrade'], timeout: '30m' },
        },
        {
          ...plain,
          name: 'look',
          needs: ['patch'],
          when: 'steps.patch.state in ["succeeded", "degraded"]',
          action: { ...command, command: ['uptime'], timeout: null },
        },
        { ...plain, name: 'check', needs: [], action: { kind: 'plan', workspace: 'net', timeout: null } },
        {
          name: 'roll-on',
          needs: ['look', 'check'],
          when: null,
          approval: 'required',
          approvalTtlMs: 1_800_000,
          action: { kind: 'apply', workspace: 'net', timeout: null },
        },
      ],
    });
  });

  test('lets a step need the one before it, unless it says otherwise', async () => {
    const { name, steps } = await read(file(step('a'), step('b'), step('c', ', needs: []'), step('d')));
    assert.equal(name, null);
    assert.deepEqual(
      steps.map(({ needs }) => needs),
      [[], ['a'], [], ['c']],
    );
  });

  test('may name a needed step before it is described', async () => {
    const { steps } = await read(file(step('last', ', needs: [first]'), step('first', ', needs: []')));
    assert.deepEqual(
      steps.map((each) => [each.name, ...each.needs]),
      [['last', 'first'], ['first']],
    );
  });

  test('is refused by its field and its line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['steps', /^file: expected the fields name and steps\.$/],
      ['name: x', /^steps \(line 1\): this field is required\.$/],
      ['steps: []', /^steps \(line 1\): expected a list of steps\.$/],
      ['steps: a', /^steps \(line 1\): expected a list of steps\.$/],
      [`name: X\n${file(step('a'))}`, /^name \(line 1\): expected 1 to 63/],
      [`step: 1\n${file(step('a'))}`, /^"step" \(line 1\): no such field here; perhaps "steps" is meant\.$/],
      ['steps:\n  - a', /^steps\[0\] \(line 2\): expected a step with a name and an action\.$/],
      [file(UPTIME), /^steps\[0\]\.name \(line 2\): this field is required\.$/],
      [file(step('a'), step('B')), /^steps\[1\]\.name \(line 3\): expected 1 to 63/],
      [file(step('a'), step('b'), step('a')), /^steps\.a\.name \(line 4\): line 2 has a step of this name already\.$/],
      [file(step('a', ', need: [x]')), /^steps\.a\."need" \(line 2\): no such field here; perhaps "needs" is meant\.$/],
      [file(step('a', ', needs: x')), /^steps\.a\.needs \(line 2\): expected a list of steps, as in \[patch\]\.$/],
      [file(step('a', ', needs: [[b]]')), /^steps\.a\.needs \(line 2\): expected text\.$/],
      [file(step('a', ', needs: [b, b]'), step('b')), /^steps\.a\.needs \(line 2\): "b" is there twice\.$/],
      [
        file(step('patch'), step('b', ', needs: [pach]')),
        /^steps\.b\.needs \(line 3\): there is no step "pach"; perhaps "patch" is meant\.$/,
      ],
      [file(step('a', ', approval: yes')), /^steps\.a\.approval \(line 2\): expected none or required\.$/],
      [file(step('a', ', approval_ttl: 5m')), /^steps\.a\.approval_ttl \(line 2\): expected only with approval:/],
      [
        file(step('a', ', approval: required, approval_ttl: 8d')),
        /^steps\.a\.approval_ttl \(line 2\): expected at least 1s and at most 7d\.$/,
      ],
    ];
    for (const [text, message] of cases) await refused(text, message);
  });

  test('is refused where its steps wait for each other, with the line of one of them', async () => {
    await refused(
      file(step('a', ', needs: [a]')),
      /^steps\.a\.needs \(line 2\): the steps wait for each other: a needs a/,
    );
    await refused(
      file(step('z'), step('a', ', needs: [z, c]'), step('b'), step('c')),
      /^steps\.a\.needs \(line 3\): the steps wait for each other: a needs c needs b needs a\.$/,
    );
    const needs = 'needs:\n      - z\n      - b\n';
    await refused(
      `${file(step('z'))}  - name: a\n    ${needs}    plan: net\n${file(step('b')).slice('steps:\n'.length)}`,
      /^steps\.a\.needs \(line 6\): the steps wait for each other: a needs b needs a\.$/,
    );
  });

  test('is refused by the action of a step and its line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['name: a', /^steps\.a \(line 2\): no action given; expected one of command, playbook, plan, apply, destroy\b/],
      ['name: a, plan: net, apply: net', /^steps\.a \(line 2\): expected one of command.*; found plan and apply\.$/],
      ['name: a, aply: net', /^steps\.a\."aply" \(line 2\): no such field here; perhaps "apply" is meant\.$/],
      ['name: a, notify: true', /^steps\.a\."notify" \(line 2\): no such field here/],
      [
        'name: a, apply: net, limit: x',
        /^steps\.a\."limit" \(line 2\): no such field here; expected one of name, needs/,
      ],
      ['name: a, apply: Net', /^steps\.a\.apply \(line 2\): expected 1 to 63/],
      ['name: a, command: [uptime]', /^steps\.a\.inventory \(line 2\): this field is required\.$/],
      ['name: a, command: uptime, inventory: localhost', /^steps\.a\.command \(line 2\): expected a list of words/],
      [
        'name: a, command: [echo, "${event.nam}"], inventory: localhost',
        /^steps\.a\.command \(line 2\): word 2: character 6: event has no field "nam"/,
      ],
      [
        'name: a, command: ["${event.name}"], inventory: localhost',
        /^steps\.a\.command \(line 2\): word 1: it names the program/,
      ],
      ['name: a, plan: net, timeout: 8d', /^steps\.a\.timeout \(line 2\): expected at least 1s and at most 7d\.$/],
    ];
    for (const [text, message] of cases) await refused(file(text), message);
  });

  test('is refused for a condition that is no condition, or looks at other steps than those before it', async () => {
    const when = (text: string): string => file(step('patch'), step('b', `, when: '${text}'`), step('c'));
    const cases: readonly (readonly [string, RegExp])[] = [
      [
        when('steps.patch.state'),
        /^steps\.b\.when \(line 3\): the expression must yield true or false; it yields a text/,
      ],
      [when('steps.pach.state == "failed"'), /^steps\.b\.when \(line 3\): character 6: .*perhaps "patch" is meant\.$/],
      [
        when('steps.c.state == "failed"'),
        /^steps\.b\.when \(line 3\): character 6: steps has no field "c"; it has patch\.$/,
      ],
      [when('steps.patch.status == "failed"'), /^steps\.b\.when \(line 3\): .*a step has no field "status"/],
      [when('steps.patch.state == "faild"'), /no step ends as "faild"; perhaps "failed" is meant\.$/],
      [when('!(steps["patch"].state in ["ok"])'), /no step ends as "ok"; expected one of succeeded, degraded, failed,/],
      [when('event.name == "x"'), /^steps\.b\.when \(line 3\): .*event/],
      [when('steps.patch.state = "failed"'), /write == to compare/],
      [when(''), /^steps\.b\.when \(line 3\): the expression is empty\.$/],
      [file(step('a', ', when: "true"')), /^steps\.a\.when \(line 2\): the step needs no other step/],
    ];
    for (const [text, message] of cases) await refused(text, message);
    const lines = `  - name: b\n    when: |\n      true &&\n      steps.x.state == "failed"\n    plan: net\n`;
    await refused(
      file(step('a')) + lines,
      /^steps\.b\.when \(line 6\): character 6: steps has no field "x"; it has a\.$/,
    );
  });

  test('is bounded', async () => {
    const many = (count: number): string => file(...Array.from({ length: count }, (_, n) => `name: s${n}, plan: net`));
    assert.equal((await read(many(STEPS_MAX))).steps.length, STEPS_MAX);
    await refused(many(STEPS_MAX + 1), /^steps \(line 2\): expected at most 200 steps\.$/);
    await refused(`${file(step('a'))}# ${'x'.repeat(65_536)}`, /^file: expected at most 65536 bytes\.$/);
    await refused(file(values(51)), /^steps \(line 2\): expected at most 50 times \$\{…\} in all\.$/);
    assert.equal((await read(file(values(50)))).steps.length, 1);
  });
});
