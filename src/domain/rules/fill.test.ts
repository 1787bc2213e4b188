import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFacts } from '../events/event.ts';
import { ActionRefused } from '../actions/action-refused.ts';
import { compileAction } from './fill.ts';
import type { Action, RuleAction } from './actions.ts';

function event(some: Partial<EventFacts> = {}): EventFacts {
  const labels = { instance: 'web1', workspace: 'net', time: '5m', ...some.labels };
  return {
    source: 'generic',
    name: 'Disk',
    status: 'firing',
    severity: null,
    fingerprint: 'f',
    annotations: {},
    netgroup: null,
    receivedAt: 0,
    ...some,
    labels,
  };
}

const command = (words: readonly string[], some: Partial<Action<'command'>> = {}): RuleAction => ({
  kind: 'command',
  command: words,
  inventory: 'localhost',
  limit: null,
  timeout: null,
  ...some,
});

async function fill(action: RuleAction, facts: EventFacts): Promise<RuleAction> {
  const filled = (await compileAction(action)).fill(facts);
  if ('error' in filled) throw new Error(filled.error);
  return filled.action;
}

async function errorOf(action: RuleAction, facts: EventFacts): Promise<string> {
  const filled = (await compileAction(action)).fill(facts);
  return 'error' in filled ? filled.error : `no error, but ${JSON.stringify(filled.action)}`;
}

async function refused(action: RuleAction, message: RegExp): Promise<void> {
  await assert.rejects(
    compileAction(action),
    (error) => error instanceof ActionRefused && message.test(error.message),
    JSON.stringify(action),
  );
}

/** A value that an attacker would like to be read as an option, wherever an event can put one. */
const DASHES = [
  '-v', '-vvv', '--help', '--version', '--', '-', '---', '-x', '-chdir=/', '--vault-password-file=/etc/shadow',
  '--syntax-check', '--orphan', '-e', '-c', '-oProxyCommand=id', '--upload-pack=id', '-o', '-i/etc/passwd',
  '--extra-vars=@/etc/shadow', '-u', '--become', '-K', '--connection=local', '-M/tmp', '--private-key=/etc/shadow',
  '-T0', '-f99', '-t', '--tree=/tmp', '-a', '--args', '-m', '-l', '--limit=all', '-b', '-k', '-target=x',
  '-auto-approve', '-destroy', '-state=/tmp/x', '-var=a=b', '-lock=false', '-backup=-', '-out=/tmp/x', '-input=true',
  '-json', '-no-color', '-compact-warnings', '-refresh=false', '-replace=a.b', '-parallelism=99', '-lock-timeout=1h',
  '--config=/etc', '-C/', '--exec=id', '--eval', '-p', '-E', '--output=/etc/x', '-rf',
]; // prettier-ignore

describe('What an event fills in', () => {
  test('fills a message whole, between fixed text, and as often as it is named', async () => {
    const message = '${event.name}: disk of ${event.labels.instance}, ${size(event.name)}, $${HOME} and $$';
    assert.deepEqual(await fill({ kind: 'notify', message }, event()), {
      kind: 'notify',
      message: 'Disk: disk of web1, 4, ${HOME} and $$',
    });
  });

  test('may hold braces and quotes in its expression', async () => {
    const message = `\${{"a}": "}\\"", 'b': "x"}["a}"]} \${event.name == "}" ? "a" : r"\\"} \${'''it's }'''}`;
    assert.deepEqual(await fill({ kind: 'notify', message }, event()), { kind: 'notify', message: `}" \\ it's }` });
  });

  test('is a value of its field', async () => {
    const filled = await fill(
      command(['uptime'], { limit: '${event.labels.instance}', timeout: '${event.labels.time}' }),
      event(),
    );
    assert.deepEqual(filled, { ...command(['uptime'], { limit: 'web1', timeout: '5m' }), isOfEvent: true });
    assert.deepEqual(await fill({ kind: 'apply', workspace: '${event.labels.workspace}', timeout: null }, event()), {
      kind: 'apply',
      workspace: 'net',
      timeout: null,
    });
    assert.deepEqual(await fill({ kind: 'notify', message: '${event.name}!' }, event()), {
      kind: 'notify',
      message: 'Disk!',
    });
  });

  test('as a limit is one host: a name or an address, without the port that monitors write', async () => {
    const hosts = {
      web1: 'web1', 'web1.example.org': 'web1.example.org', 'WEB_1': 'WEB_1', '10.0.0.7': '10.0.0.7',
      'web1:9100': 'web1', '10.0.0.7:9100': '10.0.0.7', '2001:db8::7': '2001:db8::7', '::1': '::1',
      '[2001:db8::7]:9100': '2001:db8::7', '[::1]': '::1', a: 'a',
    }; // prettier-ignore
    for (const [instance, limit] of Object.entries(hosts)) {
      const filled = await fill(
        command(['uptime'], { limit: '${event.labels.instance}' }),
        event({ labels: { instance } }),
      );
      assert.equal(filled.kind === 'command' && filled.limit, limit, instance);
    }
  });

  test('T14: as a limit is nothing that a tool reads as more than one host', async () => {
    const compiled = await compileAction(command(['uptime'], { limit: '${event.labels.instance}' }));
    const more = [
      '', ' ', 'all', 'ALL', 'ungrouped', 'all:9100', 'web1,web2', 'web1:web2', 'web1:!web2', 'web1:&db', '!web1',
      '&web1', 'web*', '*', '~web.*', 'web[1:3]', 'web[12]', '@/etc/passwd', 'web1 web2', 'web1\n', 'web1\nweb2',
      'web1;id', 'web1|id', '$(id)', '`id`', 'web1/24', '../web1', 'web1.', 'web1-', '.web1', '_web1', 'user@web1',
      'fe80::1%eth0', 'wéb1', 'web1:', 'web1:99999999', ':9100', '[web1', 'web1]', 'localhost,', "web1'", '"web1"',
      '\u{202e}web1', 'a'.repeat(254),
    ]; // prettier-ignore
    for (const instance of more) {
      assert.deepEqual(
        compiled.fill(event({ labels: { instance } })),
        {
          error:
            'limit: ' +
            `${JSON.stringify(instance.length > 80 ? `${instance.slice(0, 80)}…` : instance)} ` +
            'is not accepted; expected the name or the address of one host',
        },
        JSON.stringify(instance),
      );
    }
  });

  test('T14: never begins an option, in any field', async () => {
    const actions: readonly RuleAction[] = [
      command(['df', '${event.name}']),
      command(['df', '${event.name + event.status}']),
      command(['uptime'], { limit: '${event.name}' }),
      command(['uptime'], { timeout: '${event.name}' }),
      command(['uptime'], { inventory: '${event.name}' }),
      { kind: 'plan', workspace: '${event.name}', timeout: null },
      { kind: 'apply', workspace: '${event.name}', timeout: null },
      { kind: 'destroy', workspace: '${event.name}', timeout: null },
    ];
    for (const action of actions) {
      const compiled = await compileAction(action);
      for (const name of DASHES) {
        const filled = compiled.fill(event({ name }));
        assert.ok('error' in filled, `${JSON.stringify(action)} took ${name}`);
      }
    }
  });

  test('that is missing, of no text or too long is an error which names the field', async () => {
    const facts = event({ labels: { instance: 'web1!' } });
    const errors: readonly (readonly [RuleAction, string])[] = [
      [
        command(['echo', '${event.labels.nope}']),
        'command: word 2: event.labels.nope (not set) is not accepted; ' +
          'expected a name: letters, digits and _ . : @ -, at most 253 characters, the first a letter, a digit or _',
      ],
      [
        command(['uptime'], { limit: '${event.labels.instance}' }),
        'limit: "web1!" is not accepted; expected the name or the address of one host',
      ],
      [
        command(['uptime'], { timeout: '${event.name}' }),
        'timeout: "Disk" is not accepted; expected a duration such as 30s, 5m or 1h30m',
      ],
      [
        command(['uptime'], { timeout: '${"900d"}' }),
        'timeout: "900d" is not accepted; expected at least 1s and at most 7d',
      ],
      [
        { kind: 'plan', workspace: '${event.labels.instance}', timeout: null },
        'plan: "web1!" is not accepted; expected 1 to 63 of a-z 0-9 . _ - beginning with a letter or digit',
      ],
      [
        command(['uptime'], { limit: '${event.labels["no-pe"]}' }),
        'limit: event.labels["no-pe"] (not set) is not accepted; expected the name or the address of one host',
      ],
      [
        command(['echo', '${int(event.name)}']),
        'command: word 2: character 1: event.name cannot be converted to an integer',
      ],
    ];
    for (const [action, expected] of errors) assert.equal(await errorOf(action, facts), expected);
    for (const name of ['a\0b', '\ud800'])
      assert.match(
        await errorOf(command(['echo', '${event.name}']), event({ name })),
        /^command: word 2: it yields a character that cannot be passed to a program/,
      );
    assert.match(
      await errorOf(command(['echo', 'x'.repeat(131_000), '${event.name}']), event({ name: 'x'.repeat(253) })),
      /at most 131072 bytes/,
    );
  });

  test('from an annotation is in no message, because events are shown without annotations', async () => {
    const facts = event({ annotations: { text: 'canary-5d1 !' } });
    const actions: readonly RuleAction[] = [
      command(['echo', '${event.annotations.text}']),
      command(['echo', '${event.annotations["text"] + event.name}']),
      command(['uptime'], { limit: '${event.annotations.text}' }),
      { kind: 'plan', workspace: '${event.annotations.text}', timeout: null },
    ];
    for (const action of actions) {
      const error = await errorOf(action, facts);
      assert.match(error, /the value, which comes from an annotation, is not accepted; expected/);
      assert.doesNotMatch(error, /canary/);
    }
  });

  test('cuts a message, and leaves a whole character', async () => {
    const filled = await fill(
      { kind: 'notify', message: '${event.name}' },
      event({ name: `${'x'.repeat(999)}\u{1F4A5}` }),
    );
    assert.ok(filled.kind === 'notify' && filled.message?.length === 1_000 && filled.message.isWellFormed());
  });
});

test('A fixed value is checked when the rule is defined', async () => {
  await refused(command(['uptime'], { limit: '--list-hosts' }), /^limit: expected hosts/);
  await refused(command(['uptime'], { limit: '@/etc/passwd' }), /^limit: expected hosts/);
  await refused(command(['uptime'], { limit: '' }), /^limit: expected hosts/);
  await refused(command(['uptime'], { inventory: '-i' }), /^inventory: expected/);
  await refused({ kind: 'notify', message: 'x'.repeat(1_001) }, /^notify: expected true or a text of 1 to 1000/);
  await refused({ kind: 'apply', workspace: '-chdir=/', timeout: null }, /^apply: expected/);
  const many = command(['echo', '${1}'.repeat(51)]);
  await refused(many, /^command: expected at most 50 times \$\{…\}; found 51$/);
  await refused(command(Array.from({ length: 1_001 }, () => 'x')), /^command: expected at most 1000 words/);
  assert.equal((await fill(command(['uptime'], { limit: 'web*:!web7' }), event())).kind, 'command');
});
