import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventFacts } from './event.ts';
import { ActionRefused, compileAction } from './rule-fill.ts';
import type { Action } from './rule.ts';

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

const command = (words: readonly string[], some: Partial<Extract<Action, { kind: 'command' }>> = {}): Action => ({
  kind: 'command',
  command: words,
  inventory: 'localhost',
  limit: null,
  timeout: null,
  ...some,
});

async function fill(action: Action, facts: EventFacts): Promise<Action> {
  const filled = (await compileAction(action)).fill(facts);
  if ('error' in filled) throw new Error(filled.error);
  return filled.action;
}

async function errorOf(action: Action, facts: EventFacts): Promise<string> {
  const filled = (await compileAction(action)).fill(facts);
  return 'error' in filled ? filled.error : `no error, but ${JSON.stringify(filled.action)}`;
}

async function refused(action: Action, message: RegExp): Promise<void> {
  await assert.rejects(
    compileAction(action),
    (error) => error instanceof ActionRefused && message.test(error.message),
    JSON.stringify(action),
  );
}

/** A value that an attacker would like to be read as an option, wherever an event can put one. */
const DASHES = [
  '-v', '-vvv', '--help', '--version', '--', '-', '---', '-x', '-chdir=/', '--vault-password-file=/etc/shadow', '--syntax-check', '--orphan', '-e', '-c',
  '-oProxyCommand=id', '--upload-pack=id', '-o', '-i/etc/passwd', '--extra-vars=@/etc/shadow', '-u', '--become', '-K', '--connection=local', '-M/tmp',
  '--private-key=/etc/shadow', '-T0', '-f99', '-t', '--tree=/tmp', '-a', '--args', '-m', '-l', '--limit=all', '-b', '-k', '-target=x', '-auto-approve',
  '-destroy', '-state=/tmp/x', '-var=a=b', '-lock=false', '-backup=-', '-out=/tmp/x', '-input=true', '-json', '-no-color', '-compact-warnings', '-refresh=false',
  '-replace=a.b', '-parallelism=99', '-lock-timeout=1h', '--config=/etc', '-C/', '--exec=id', '--eval', '-p', '-E', '--output=/etc/x', '-rf',
]; // prettier-ignore

describe('What an event fills in', () => {
  test('stands between fixed text, as a whole, and as often as it is named', async () => {
    const action = command([
      'echo',
      '${event.name}',
      'disk of ${event.labels.instance}: ${event.status}',
      'id=${size(event.name)}',
      '$${HOME} and $$',
      'plain',
    ]);
    assert.deepEqual(
      await fill(action, event()),
      command(['echo', 'Disk', 'disk of web1: firing', 'id=4', '${HOME} and $$', 'plain']),
    );
  });

  test('may hold braces and quotes in its expression', async () => {
    const action = command([
      'echo',
      '${{"a}": "}\\"", \'b\': "x"}["a}"]}',
      '${event.name == "}" ? "a" : r"\\"}',
      "${'''it's }'''}",
    ]);
    assert.deepEqual(await fill(action, event()), command(['echo', '}"', '\\', "it's }"]));
  });

  test('is a value of the field that it stands in', async () => {
    const filled = await fill(
      command(['uptime'], { limit: '${event.labels.instance}', timeout: '${event.labels.time}' }),
      event(),
    );
    assert.deepEqual(filled, command(['uptime'], { limit: 'web1', timeout: '5m' }));
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
      web1: 'web1', 'web1.example.org': 'web1.example.org', 'WEB_1': 'WEB_1', '10.0.0.7': '10.0.0.7', 'web1:9100': 'web1', '10.0.0.7:9100': '10.0.0.7',
      '2001:db8::7': '2001:db8::7', '::1': '::1', '[2001:db8::7]:9100': '2001:db8::7', '[::1]': '::1', a: 'a',
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
      '', ' ', 'all', 'ALL', 'ungrouped', 'all:9100', 'web1,web2', 'web1:web2', 'web1:!web2', 'web1:&db', '!web1', '&web1', 'web*', '*', '~web.*', 'web[1:3]', 'web[12]',
      '@/etc/passwd', 'web1 web2', 'web1\n', 'web1\nweb2', 'web1;id', 'web1|id', '$(id)', '`id`', 'web1/24', '../web1', 'web1.', 'web1-', '.web1', '_web1', 'user@web1',
      'fe80::1%eth0', 'wéb1', 'web1:', 'web1:99999999', ':9100', '[web1', 'web1]', 'localhost,', "web1'", '"web1"', '\u{202e}web1', 'a'.repeat(254),
    ]; // prettier-ignore
    for (const instance of more) {
      assert.deepEqual(
        compiled.fill(event({ labels: { instance } })),
        { error: 'limit: expected the name or the address of one host, and ${…} yields something else' },
        JSON.stringify(instance),
      );
    }
  });

  test('T14: never begins an option, in any field', async () => {
    const actions: readonly Action[] = [
      command(['df', '${event.name}']),
      command(['df', '${event.name}${event.status}']),
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
        assert.ok(!filled.error.includes(name) || name.length < 3, 'the message repeats the value');
      }
    }
  });

  test('T14: stands behind fixed text as a part of that word, whatever it is', async () => {
    const compiled = await compileAction(command(['tool', '--name=${event.name}', '/data/${event.name}']));
    for (const name of [...DASHES, '', ' ', 'a b', '$(id)', '; rm -rf /', "'", '\n']) {
      assert.deepEqual(compiled.fill(event({ name })), {
        action: command(['tool', `--name=${name}`, `/data/${name}`]),
      });
    }
  });

  test('is never the program, nor a part of its name', async () => {
    await refused(
      command(['${event.name}', 'x']),
      /^command: the first word names the program and must not come from the event/,
    );
    await refused(command(['/opt/${event.name}']), /the first word names the program/);
  });

  test('is never the program behind one that starts another, but may be an argument of that', async () => {
    const chosen = [
      ['env', '${event.name}'], ['env', 'A=b', '${event.name}'], ['/usr/bin/env', '-S', '${event.name}'], ['env', '--split-string=${event.name}'], ['env', '-i', '-S${event.name}'], ['env', '-S', 'sh -c', '${event.name}'], ['env', '-u', 'A', '${event.name}', 'x'],
      ['timeout', '5', '${event.name}'], ['timeout', '-k', '1s', '5', '${event.name}'], ['sudo', '${event.name}'], ['sudo', '-u', 'root', '${event.name}'], ['nice', '-n', '5', 'env', '${event.name}'], ['xargs', '-n', '1', '${event.name}'],
      ['sudo', 'timeout', '5', '/opt/${event.name}'], ['timeout', '--signal', 'KILL', '5', '${event.name}'], ['sudo', '--user', 'root', '${event.name}'], ['sudo', '-nu', 'root', '${event.name}'], ['sudo', 'LANG=C', '${event.name}'],
      ['env', '--chdir', '/tmp', '${event.name}'], ['nice', '--adjustment', '5', '${event.name}'], ['xargs', '--max-args', '1', '${event.name}'], ['env', 'PATH=${event.name}', 'ls'], ['env', 'LD_PRELOAD=${event.name}', 'ls'], ['find', '/tmp', '-exec', '${event.name}', ';'],
      ['runuser', '-u', 'www', '--', '${event.name}'], ['gosu', 'root', '${event.name}'], ['pkexec', '${event.name}'],
    ]; // prettier-ignore
    for (const words of chosen)
      await refused(
        command(words),
        /^command: \$\{…\} where a program is named would let the event choose the program/,
      );
    const fine = [
      ['env', 'A=${event.name}', 'tool'],
      ['timeout', '5', 'tool', '${event.name}'],
      ['sudo', '-u', 'root', 'tool', '${event.name}'],
      ['timeout', '-k', '1s', '5', 'nice', 'tool', '-n', '${event.name}'],
      ['timeout', '--signal=KILL', '5', 'tool', '${event.name}'],
      ['sudo', '-u', 'root', '--', 'tool', '${event.name}'],
      ['systemd-run', '--unit=fix-${event.name}', '/opt/fix'],
    ];
    for (const words of fine) assert.equal((await fill(command(words), event())).kind, 'command', words.join(' '));
  });

  test('is never in a script, but may be an argument of one', async () => {
    const scripts = [
      ['sh', '-c', 'echo ${event.name}'], ['/bin/bash', '-euc', '${event.name}'], ['bash', '-o', 'pipefail', '-c', 'x ${event.name}'], ['env', 'A=b', 'dash', '-c', 'x ${event.name}'],
      ['python3', '-c', 'print("${event.name}")'], ['python3.13', '-Bc', '${event.name}'], ['perl', '-e', '${event.name}'], ['node', '--eval', '${event.name}'], ['awk', '/${event.name}/'],
      ['sed', '-n', 's/${event.name}/x/'], ['sudo', 'sh', '-c', 'a ${event.name}'], ['busybox', 'sh', '-c', 'a ${event.name}'],
      ['sh', '${event.name}'], ['bash', '-x', '${event.name}'], ['python3', '-c${event.name}'], ['node', '--eval=${event.name}'],
      ['watch', '-n', '5', '${event.name}'], ['ssh', 'h', '${event.name}'], ['ssh', '-n', '-p', '22', 'h', 'uptime', '${event.name}'], ['git', '-c', '${event.name}', 'log'], ['psql', 'db', '-c', '${event.name}'],
      ['sudo', '-u', 'pg', 'psql', '--command=${event.name}'], ['eval', '${event.name}'], ['flock', '/l', '-c', '${event.name}'],
      ['bash', '-e', '-c', 'echo ${event.name}'], ['sh', '-e', '-u', '-c', '${event.name}'], ['sed', '-E', '-i', 's/${event.name}/X/', '/x'], ['sed', '-e', 'p', '-e', '${event.name}'], ['perl', '-p', '-e', '${event.name}'], ['node', '-r', './x.js', '${event.name}'],
      ['psql', '-tAc', '${event.name}'], ['mysql', '-Ne', '${event.name}'], ['ssh', '-o', 'ProxyCommand=${event.name}', 'h'], ['ssh', '-oProxyCommand=${event.name}', 'h'], ['mongosh', '--eval', '${event.name}'], ['tclsh', '${event.name}'],
    ]; // prettier-ignore
    for (const words of scripts)
      await refused(command(words), /^command: \$\{…\} in a script would let the event write the program/);
    const fine = [['sh', '-c', 'echo "$1"', 'sh', '${event.name}'], ['python3', 'tool.py', '-c', '${event.name}'], ['bash', 'tool.sh', '${event.name}'], ['sed', '-e', 's/a/b/', '${event.name}'], ['grep', '-e', '${event.name}'],
      ['ssh', '${event.name}', 'uptime'], ['ssh', '-p', '22', '${event.name}', 'uptime'], ['git', 'log', '-p', '${event.name}'], ['systemctl', 'restart', 'watch', '${event.name}'], ['bash', '-x', 'x.sh', '-c', '${event.name}'], ['awk', '-v', 'n=${event.name}', '{print n}', '/f'], ['python3', '-W', 'ignore', 'tool.py', '${event.name}'], ['sed', '-n', 'p', '/var/log/${event.name}'], ['journalctl', '-u', '${event.name}'], ['curl', '${event.name}']]; // prettier-ignore
    for (const words of fine) assert.equal((await fill(command(words), event())).kind, 'command', words.join(' '));
  });

  test('that is missing, of no text or too long is an error which names the field and no value', async () => {
    const secret = 'canary-5d1';
    const facts = event({ name: secret, labels: { instance: `${secret}!`, other: secret } });
    const told = await errorOf(command(['echo', '${event.labels.nope}']), facts);
    assert.equal(told, 'command: the event has no "nope"; its labels are instance, other, time, workspace');
    const errors: readonly (readonly [Action, RegExp])[] = [
      [
        command(['uptime'], { limit: '${event.labels.instance}' }),
        /^limit: expected the name or the address of one host/,
      ],
      [command(['uptime'], { timeout: '${event.name}' }), /^timeout: expected a duration/],
      [command(['uptime'], { timeout: '${"900d"}' }), /^timeout: expected at least 1s and at most 7d/],
      [{ kind: 'plan', workspace: '${event.labels.instance}', timeout: null }, /^plan: expected 1 to 63/],
      [command(['echo', '${int(event.name)}']), /^command: character 1: a value can not be converted$/],
    ];
    for (const [action, expected] of errors) {
      const error = await errorOf(action, facts);
      assert.match(error, expected);
      assert.doesNotMatch(error, new RegExp(secret));
    }
    assert.match(
      await errorOf(command(['echo', '${event.name}']), event({ name: 'a\0b' })),
      /^command: it yields a character that no program can be given/,
    );
    assert.match(
      await errorOf(command(['echo', '${event.name}']), event({ name: '\ud800' })),
      /no program can be given/,
    );
    assert.match(
      await errorOf(
        command(['echo', ...Array.from({ length: 40 }, () => '${event.name}')]),
        event({ name: 'x'.repeat(4_000) }),
      ),
      /more than 131072 bytes/,
    );
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
  await refused({ kind: 'notify', message: 'x'.repeat(1_001) }, /^notify: expected true, or a text of 1 to 1000/);
  await refused({ kind: 'apply', workspace: '-chdir=/', timeout: null }, /^apply: expected/);
  await refused(command(['echo', '${1}'.repeat(51)]), /^command: expected at most 50 times \$\{…\}, and there are 51$/);
  await refused(command(Array.from({ length: 1_001 }, () => 'x')), /^command: expected at most 1000 words/);
  assert.equal((await fill(command(['uptime'], { limit: 'web*:!web7' }), event())).kind, 'command');
});
