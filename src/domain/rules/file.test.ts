import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../failure.ts';
import { RULE_ACTION_KINDS } from './actions.ts';
import { readRuleFile } from './file.ts';

const WHEN =
  'when: event.source == "alertmanager" && event.status == "firing" && event.labels.alertname == "DiskFull"\n';
const NOTIFY = 'action: {notify: true}\n';
const COMMAND = 'action:\n  command: ["df", "-h"]\n  inventory: localhost\n';

async function refused(text: string, message: RegExp, code = 'invalid_argument'): Promise<void> {
  await assert.rejects(readRuleFile(text), (error) => {
    assert.ok(error instanceof Failure, `${text} threw ${String(error)}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

describe('A rule file', () => {
  test('says all that a rule is', async () => {
    const text =
      `name: disk-full\n${WHEN}cooldown: 10m\napproval: required\napproval_ttl: 30m\n${COMMAND}  ` +
      `limit: \${event.labels.instance}\n  timeout: 5m\n`;
    assert.deepEqual(await readRuleFile(text), {
      name: 'disk-full',
      when: 'event.source == "alertmanager" && event.status == "firing" && event.labels.alertname == "DiskFull"',
      cooldownMs: 600_000,
      approval: 'required',
      approvalTtlMs: 1_800_000,
      action: {
        kind: 'command',
        command: ['df', '-h'],
        inventory: 'localhost',
        limit: '${event.labels.instance}',
        timeout: '5m',
      },
    });
  });

  test('may say in one line what the rule does', async () => {
    const { summary } = await readRuleFile(`${WHEN}summary: frees space on the disk\n${NOTIFY}`);
    assert.equal(summary, 'frees space on the disk');
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['', /^summary \(line 2\): expected a value; found none\.$/],
      ['""', /^summary \(line 2\): it is empty; expected one line of text\.$/],
      ['"a\\nb"', /^summary \(line 2\): it has a line break; expected one line of text\.$/],
      ["'free ${event.name}'", /^summary \(line 2\): expected fixed text, without \$\{…\}\.$/],
      ['x'.repeat(201), /^summary \(line 2\): expected at most 200 characters\.$/],
      ['[a]', /^summary \(line 2\): expected text\.$/],
    ];
    for (const [text, message] of wrong) await refused(`${WHEN}summary: ${text}\n${NOTIFY}`, message);
  });

  test('needs an expression and an action only', async () => {
    assert.deepEqual(await readRuleFile(`${WHEN}${NOTIFY}`), {
      name: null,
      when: 'event.source == "alertmanager" && event.status == "firing" && event.labels.alertname == "DiskFull"',
      cooldownMs: null,
      approval: 'none',
      approvalTtlMs: null,
      action: { kind: 'notify', message: null },
    });
  });

  test('has one action of each kind that there is', async () => {
    const actions = {
      'plan: net': { kind: 'plan', workspace: 'net', timeout: null },
      'apply: ${event.labels.workspace}': { kind: 'apply', workspace: '${event.labels.workspace}', timeout: null },
      '{destroy: net, timeout: 1h}': { kind: 'destroy', workspace: 'net', timeout: '1h' },
      '{command: [sleep, 5], inventory: localhost}': {
        kind: 'command',
        command: ['sleep', '5'],
        inventory: 'localhost',
        limit: null,
        timeout: null,
      },
      'notify: ${event.name} is ${event.status}': { kind: 'notify', message: '${event.name} is ${event.status}' },
    };
    for (const [text, action] of Object.entries(actions))
      assert.deepEqual((await readRuleFile(`${WHEN}action:\n  ${text}\n`)).action, action, text);
  });

  test('is refused by the field and its line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['- a', /^file: expected fields/],
      [`nmae: x\n${WHEN}${NOTIFY}`, /^"nmae" \(line 1\): no such field here; perhaps "name" is meant\.$/],
      [`name: Disk Full\n${WHEN}${NOTIFY}`, /^name \(line 1\): expected 1 to 63/],
      [`name:\n${WHEN}${NOTIFY}`, /^name \(line 1\): expected a value; found none/],
      [NOTIFY, /^when \(line 1\): this field is required\.$/],
      [WHEN, /^action \(line 1\): this field is required\.$/],
      [`when: [a]\n${NOTIFY}`, /^when \(line 1\): expected text\.$/],
      [`when: 5\n${NOTIFY}`, /^when \(line 1\): the expression must yield true or false; it yields a number\.$/],
      [
        `name: x\nwhen: event.nam == "x"\n${NOTIFY}`,
        /^when \(line 2\): character 6: event has no field "nam"; perhaps "name" is meant\.$/,
      ],
      [`when: event.name = "x"\n${NOTIFY}`, /^when \(line 1\): character 12: .*write == to compare\.$/],
      [
        `when: event.source == "prometheus"\n${NOTIFY}`,
        /^when \(line 1\): no event has the source "prometheus"; expected one of generic, alertmanager,/,
      ],
      [`when: event.severity == null\n${NOTIFY}`, /^when \(line 1\): .*a text is compared with null/],
      [`${WHEN}cooldown: 10\n${NOTIFY}`, /^cooldown \(line 2\): expected a duration such as/],
      [`${WHEN}cooldown: 0s\n${NOTIFY}`, /^cooldown \(line 2\): expected at least 1s/],
      [`${WHEN}cooldown:\n${NOTIFY}`, /^cooldown \(line 2\): expected a value/],
      [`${WHEN}approval: yes\n${COMMAND}`, /^approval \(line 2\): expected none or required\.$/],
      [`${WHEN}approval: required\n${NOTIFY}`, /^approval \(line 2\): a rule that only notifies makes no job/],
      [`${WHEN}approval_ttl: 5m\n${COMMAND}`, /^approval_ttl \(line 2\): expected only with approval: required\.$/],
      [`${WHEN}one_tap: true\n${COMMAND}`, /^one_tap \(line 2\): expected only with approval: required\.$/],
      [`${WHEN}approval: required\none_tap: yes please\n${COMMAND}`, /^one_tap \(line 3\): expected true or false\.$/],
      [
        `${WHEN}approval: required\none_tap: true\naction:\n  apply: net\n`,
        /^one_tap \(line 3\): only a command or a playbook can be approved by one tap\.$/,
      ],
      [
        `${WHEN}approval: none\napproval_ttl: 5m\n${COMMAND}`,
        /^approval_ttl \(line 3\): expected only with approval: required\.$/,
      ],
      [`${WHEN}approval_ttl: 8d\n${COMMAND}`, /^approval_ttl \(line 2\): expected at least 1s and at most 7d\.$/],
    ];
    for (const [text, message] of cases) await refused(text, message);
  });

  test('is refused by the field of its action and its line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['[notify]', new RegExp(String.raw`^action \(line 3\): expected one of ${RULE_ACTION_KINDS.join(', ')}`)],
      ['inventory: localhost', /^action \(line 3\): no action given; expected one of/],
      ['aply: net', /^action\."aply" \(line 3\): no such field here; perhaps "apply" is meant\.$/],
      ['plan: a\n  apply: b', /^action \(line 3\): expected one of .*; found plan and apply\.$/],
      ['apply: net\n  limit: x', /^action\."limit" \(line 4\): no such field here; expected one of apply, timeout\.$/],
      ['apply: Net', /^action\.apply \(line 3\): expected 1 to 63/],
      ['apply: net\n  timeout: 8d', /^action\.timeout \(line 4\): expected at least 1s and at most 7d\.$/],
      ['command: uptime\n  inventory: localhost', /^action\.command \(line 3\): expected a list of words/],
      ['command: []\n  inventory: localhost', /^action\.command \(line 3\): expected at least one word/],
      ['command: [""]\n  inventory: localhost', /^action\.command \(line 3\): word 1: expected the name of a program/],
      ['command: [a, ~]\n  inventory: localhost', /^action\.command \(line 3\): expected a value; found none/],
      ['command: [a, [b]]\n  inventory: localhost', /^action\.command \(line 3\): expected text\.$/],
      ['command: [uptime]', /^action\.inventory \(line 3\): this field is required\.$/],
      [
        'command: [uptime]\n  inventory: localhost\n  limit:',
        /^action\.limit \(line 5\): expected a value; found none/,
      ],
      [
        'command: [echo, "${event.nam}"]\n  inventory: localhost',
        /^action\.command \(line 3\): word 2: character 6: event has no field "nam"/,
      ],
      [
        'command: [echo, "${event.name"]\n  inventory: localhost',
        /^action\.command \(line 3\): word 2: "\$\{" has no closing "\}"/,
      ],
      [
        'command: [echo, "${event.labels}"]\n  inventory: localhost',
        /^action\.command \(line 3\): .*must yield a text or a number; it yields a map/,
      ],
      [
        'command: [echo, "${event.received_at}"]\n  inventory: localhost',
        /must yield a text or a number; it yields a time/,
      ],
      [
        'command: [echo, {event.name}]\n  inventory: localhost',
        /^action\.command \(line 3\): expected text; quote a value that holds \$\{…\}/,
      ],
      ['notify: false', /^action\.notify \(line 3\): expected true or the text of the message\.$/],
      ['notify: 5', /^action\.notify \(line 3\): expected true/],
    ];
    for (const [action, message] of cases) await refused(`${WHEN}action:\n  ${action}\n`, message);
  });

  test('is refused by the line of the field within its action, and of the word within its command', async () => {
    const words = 'command:\n    - df\n    - "${event.name}"\n  inventory: localhost\n';
    const cases: readonly (readonly [string, RegExp])[] = [
      [`${words}  timeout: 9x`, /^action\.timeout \(line 7\): expected a duration such as/],
      [`${words}  limit: "\${event.label.x}"`, /^action\.limit \(line 7\): character 6: event has no field "label"/],
      [
        `${words}  limit: web1\n  timeout: "\${event.nam}"`,
        /^action\.timeout \(line 8\): character 6: event has no field "nam"/,
      ],
      [words.replace('df', 'sh\n    - -c'), /^action\.command \(line 6\): word 3: "sh" runs its arguments/],
      [words.replace('${event', 'disk ${event'), /^action\.command \(line 5\): word 2: \$\{…\} must be a whole word/],
      ['apply: "${event.nam}"', /^action\.apply \(line 3\): character 6: event has no field "nam"/],
      ['notify: "${event.nam}"', /^action\.notify \(line 3\): character 6: event has no field "nam"/],
      [
        words.replace('event.name', 'event.nam'),
        /^action\.command \(line 5\): word 2: character 6: event has no field "nam"/,
      ],
      [
        words.replace('localhost', '"${event.nam}"'),
        /^action\.inventory \(line 6\): character 6: event has no field "nam"/,
      ],
      [words.replace('df', '"${event.name}"'), /^action\.command \(line 4\): word 1: it names the program/],
      ['timeout: 5m\n  apply: Net', /^action\.apply \(line 4\): expected 1 to 63/],
    ];
    for (const [action, message] of cases) await refused(`${WHEN}action:\n  ${action}\n`, message);
  });

  test('is refused by the line that the fault of an expression over several lines is on', async () => {
    const [first, second] = ['event.name == "x" &&', 'event.nam == "y"'];
    const cases: readonly (readonly [string, RegExp])[] = [
      [`when: |\n  ${first}\n  ${second}\n`, /^when \(line 3\): character 6: event has no field "nam"/],
      [`when: |-\n\n  ${first}\n\n    ${second}\n`, /^when \(line 5\): character 6: event has no field "nam"/],
      [`when: >\n  ${first}\n  ${second}\n`, /^when \(line 3\): character 6: event has no field "nam"/],
      [`when: ${first}\n  ${second}\n`, /^when \(line 2\): character 6: event has no field "nam"/],
      [`when:\n  ${first}\n  ${second}\n`, /^when \(line 3\): character 6: event has no field "nam"/],
      [`when: '${first}\n  ${second}'\n`, /^when \(line 2\): character 6: event has no field "nam"/],
      [
        `when: |\n  ${first}\n  ${second.replace('==', '=')}\n`,
        /^when \(line 3\): character 11: syntax error at .*write == to compare\.$/,
      ],
      // Escapes: the place within the expression is named.
      [
        `when: ${JSON.stringify(`${first}\n${second}`)}\n`,
        /^when \(line 1\): line 2, character 6: event has no field "nam"/,
      ],
      [`when: ${JSON.stringify(first)} \n`, /^when \(line 1\): character 19: syntax error at "&&"\.$/],
    ];
    for (const [when, message] of cases) await refused(`${when}${NOTIFY}`, message);
  });
});
