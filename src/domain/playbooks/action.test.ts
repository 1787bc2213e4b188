import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFacts } from '../events/event.ts';
import { Failure } from '../failure.ts';
import type { RuleAction } from '../rules/actions.ts';
import { readRuleFile } from '../rules/file.ts';
import { compileAction } from '../rules/fill.ts';
import { writeRuleFile } from '../rules/write-file.ts';

const EVENT: EventFacts = {
  source: 'generic',
  name: 'Disk',
  status: 'firing',
  severity: null,
  fingerprint: 'f',
  labels: { instance: 'web1:9100', mountpoint: '/srv/data', evil: "x'; touch Y", list: 'web1,web2', all: 'all' },
  annotations: {},
  netgroup: null,
  receivedAt: 0,
};

const BASE = '  playbook: plays/clean.yml\n  source: ops\n  inventory: prod\n';

const file = (fields: string): string => `name: clean\nwhen: 'true'\naction:\n${BASE}${fields}`;

async function actionOf(fields: string): Promise<RuleAction> {
  return (await readRuleFile(file(fields))).action;
}

async function filled(fields: string, facts: EventFacts = EVENT): Promise<RuleAction | string> {
  const compiled = await compileAction(await actionOf(fields));
  const result = compiled.fill(facts);
  return 'error' in result ? result.error : result.action;
}

describe('A playbook as the action of a rule', () => {
  test('has every field, each by its type', async () => {
    const fields = [
      'limit: web,!web9',
      'tags: [config, packages]',
      'skip_tags: slow,never',
      'check: true',
      'diff: false',
      'extra_vars: { version: 1.10, count: 3, on: true, none: null, list: [a, { b: c }] }',
      'vault_project: prod',
      'tolerate_unreachable: true',
      'egress_ports: [8443, 443, 443]',
      'timeout: 15m',
    ];
    const action = await actionOf(fields.map((line) => `  ${line}\n`).join(''));
    assert.deepEqual(action, {
      kind: 'playbook',
      playbook: 'plays/clean.yml',
      source: 'ops',
      inventory: 'prod',
      limit: 'web,!web9',
      tags: ['config', 'packages'],
      skipTags: ['slow', 'never'],
      check: true,
      diff: false,
      extraVars: { version: '1.10', count: 3, on: true, none: null, list: ['a', { b: 'c' }] },
      vaultProject: 'prod',
      tolerateUnreachable: true,
      egressPorts: [443, 8443],
      timeout: '15m',
    });
  });

  test('is written as a file that is read as the same action', async () => {
    const rule = await readRuleFile(
      file('  tags: [a]\n  check: true\n  extra_vars: { version: "1.10", n: 3 }\n  egress_ports: [443]\n'),
    );
    const again = await readRuleFile(await writeRuleFile({ ...rule, name: 'clean' }));
    assert.deepEqual(again.action, rule.action);
  });

  test('takes one host of an event as its limit, and names or paths in variables', async () => {
    const action = await filled(
      '  limit: ${event.labels.instance}\n' +
        '  extra_vars: { where: "${event.labels.mountpoint}", host: "on-${1 == 2 ? 1 : 2}" }\n',
    );
    assert.ok(typeof action !== 'string');
    assert.ok(action.kind === 'playbook');
    assert.deepEqual([action.limit, action.isOfEvent], ['web1', true]);
    assert.deepEqual(action.extraVars, { where: '/srv/data', host: 'on-2' });
  });

  test('refuses a value of an event that is more than a host, a name or a path', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['  limit: ${event.labels.list}\n', /limit: .*expected the name or the address of one host/],
      ['  limit: ${event.labels.all}\n', /limit: .*expected the name or the address of one host/],
      ['  extra_vars: { x: "${event.labels.evil}" }\n', /extra_vars\.x: .*expected a name, or an absolute path/],
      ['  extra_vars: { x: ["/srv/../${event.labels.mountpoint}"] }\n', /extra_vars\.x: .*expected a name/],
    ];
    for (const [fields, message] of cases) assert.match(JSON.stringify(await filled(fields)), message, fields);
  });

  test('is refused by the field and its line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['  tags: a b\n', /^action\.tags \(line 7\): expected tags/],
      ['  tags: [--list-tasks]\n', /^action\.tags \(line 7\): expected tags/],
      ['  skip_tags: ["${event.name}"]\n', /^action\.skip_tags \(line 7\): \$\{…\} is not accepted here/],
      ['  check: perhaps\n', /^action\.check \(line 7\): expected true or false/],
      ['  extra_vars: { ansible_connection: local }\n', /^action\.extra_vars \(line 7\): "ansible_connection": /],
      ['  extra_vars: x\n', /^action\.extra_vars \(line 7\): expected variables with their values/],
      ['  extra_vars: { x: "${path(event.labels.mountpoint)}" }\n', /accepted only in a word of a command/],
      ['  egress_ports: [0]\n', /^action\.egress_ports \(line 7\): expected a port/],
      ['  vault_project: A B\n', /^action\.vault_project \(line 7\): expected the name of a project/],
      ['  privileged: maybe\n', /^action\.privileged \(line 7\): expected true or false/],
      ['  writable: [/]\n', /^action\.writable \(line 7\): "\/": \/ is never writable/],
      ['  writable: ["/srv/${event.name}"]\n', /^action\.writable \(line 7\): \$\{…\} is not accepted here/],
      ['  writable: /srv\n', /^action\.writable \(line 7\): expected a list of directories/],
      ['  privileged: true\n  writable: [/srv]\n', /^action\.writable \(line 8\): expected only without privileged/],
      ['  limit: "@/etc/hosts"\n', /^action\.limit \(line 7\): expected hosts of the inventory/],
    ];
    for (const [fields, message] of cases)
      await assert.rejects(
        readRuleFile(file(fields)),
        (error) => error instanceof Failure && message.test(error.message),
        fields,
      );
    for (const [playbook, message] of [
      ['../clean.yml', /^action\.playbook \(line 4\): expected the path of a playbook/],
      ['"${event.name}"', /^action\.playbook \(line 4\): \$\{…\} is not accepted here/],
    ] as const)
      await assert.rejects(
        readRuleFile(file('').replace('plays/clean.yml', playbook)),
        (error) => error instanceof Failure && message.test(error.message),
        playbook,
      );
  });
});
