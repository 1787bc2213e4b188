/** `svc config export`, `diff` and `apply`. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SECTION_NAMES } from '../../../src/operations/areas.ts';
import { isNone } from '../../../src/operations/core/http-face.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { apply, changesOf, diff, type Diff, exported, FULL, RULE } from '../../support/configuration/config-files.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';

const TABLES = SECTION_NAMES.flatMap((section) => (section === 'checks' ? [section, 'check_targets'] : [section]));

function inventoryFile(hosts: readonly string[]): string {
  return `inventories:\n  - name: prod\n    text: |\n${hosts.map((name) => `      ${name}\n`).join('')}`;
}

async function rowsOf(program: Program): Promise<unknown> {
  const tables = [...TABLES, 'config_objects', 'ledger'] as 'rules'[];
  return Promise.all(tables.map((table) => program.store.db.selectFrom(table).selectAll().execute()));
}

describe('A configuration file', () => {
  test('point 39: with every kind of object is applied at once, and its export does not differ', async (t) => {
    const program = await startProgram(t);
    const { changes } = await diff(program, FULL);
    assert.equal(changes.length, 16);
    assert.ok(changes.every(({ change, line }) => change === 'add' && line !== null));
    const applied = await apply(program, FULL);
    assert.deepEqual(applied.changes, changes);
    assert.deepEqual(changesOf(await diff(program, FULL)), []);
    const written = await exported(program);
    for (const section of SECTION_NAMES) assert.match(written, new RegExp(`^${section}:$`, 'm'));
    assert.deepEqual(changesOf(await diff(program, written)), []);
    assert.deepEqual(changesOf(await diff(program, await exported(program, 'all'))), []);
    assert.equal(
      await exported(program, 'other'),
      '# yaml-language-server: $schema=gatehouse.schema.json\nset: other\n',
    );
    assert.deepEqual(changesOf(await apply(program, written)), []);
  });

  test('says nothing of an empty service, and that is applied too', async (t) => {
    const program = await startProgram(t);
    const text = await exported(program);
    assert.deepEqual((await apply(program, text)).changes, []);
  });

  test('holds no credential, no URL of a webhook and no signing secret', async (t) => {
    const program = await startProgram(t);
    const { webhooks } = await apply(program, FULL);
    const [webhook] = webhooks;
    assert.match(webhook?.url ?? '', /\/hook\/\S{40}/);
    const written = await exported(program, 'all');
    const changed = await diff(program, written.replaceAll('[kept]', 'another-one').replace('enabled: false', ''));
    for (const text of [written, JSON.stringify(changed)]) {
      assert.doesNotMatch(text, /hunter2|another-one/);
      assert.ok(!text.includes(webhook?.url.split('/hook/')[1] ?? '-'), 'the URL of the webhook');
      assert.ok(!text.includes(webhook?.signing_secret ?? '-'), 'the signing secret');
    }
    assert.equal(written.match(/\[kept\]/g)?.length, 6);
    assert.match(written, /git: ssh:\/\/git@git\.example\.org/, 'the user of a repository is no credential');
  });

  test('keeps the stored credential of [kept], and refuses it where none is stored', async (t) => {
    const program = await startProgram(t);
    await apply(program, FULL);
    const written = await exported(program, 'all');
    const slower = written.replace('interval: 1m30s', 'interval: 2m').replace('timeout: 5m', 'timeout: 6m');
    assert.deepEqual(changesOf(await apply(program, slower)), ['change check api', 'change rule disk-full']);
    const { action } = await program.store.db
      .selectFrom('schedules')
      .select('action')
      .where('name', '=', 'fetch')
      .executeTakeFirstOrThrow();
    assert.match(action, /u:hunter2@h/);
    const moved = written.replace('a=https://[kept]@example.org/', 'a=https://[kept]@evil.example/');
    await assert.rejects(
      diff(program, moved),
      refusal('invalid_argument', /^checks\.api \(line \d+, column 5\): .*\[kept\] keeps the stored credential/),
    );
    await assert.rejects(
      apply(
        program,
        'schedules:\n  - {name: x, cron: 0 3 * * *, command: [curl, "https://[kept]@h/"], inventory: localhost}',
      ),
      refusal('invalid_argument', /^schedules\.x \(line 2, column 5\): schedule: \[kept\] keeps/),
    );
  });

  test('changes what differs and keeps what an operation alone would keep', async (t) => {
    const program = await startProgram(t);
    await apply(program, FULL);
    const before = await program.store.db.selectFrom('schedules').selectAll().where('name', '=', 'all').execute();
    const text = FULL.replace('expect: 204', 'method: HEAD')
      .replace(', expect_addr: 192.0.2.1', '')
      .replace('drift_all: true', 'drift: net')
      .replace(
        'kind: tls, interval: 1h, targets: ["a=example.org:443"], min_days: 30',
        'kind: tcp, interval: 1h, targets: ["a=192.0.2.1:443"]',
      )
      .replace('protect_destroy: true', 'require_saved_plan: true')
      .replace('cooldown: 10m', 'cooldown: 20m');
    const changes = ['workspace net', 'check api', 'check cert', 'check name', 'rule disk-full', 'schedule all'];
    assert.deepEqual(
      changesOf(await apply(program, text)),
      changes.map((each) => `change ${each}`),
    );
    assert.deepEqual(changesOf(await diff(program, text)), []);
    const [after] = await program.store.db.selectFrom('schedules').selectAll().where('name', '=', 'all').execute();
    assert.deepEqual({ enabled: after?.enabled, at: after?.created_at }, { enabled: 0, at: before[0]?.created_at });
    assert.deepEqual(
      await callLocally(program, 'workspace.get', { name: 'net' }).then((each) => (each as { policy: object }).policy),
      { approve_when: null, deny_when: 'size(plan.destroys) > 10', require_saved_plan: true, protect_destroy: false },
    );
  });

  test('replaces a source and the hosts of an inventory while others use them', async (t) => {
    const program = await startProgram(t);
    await apply(program, FULL);
    const text = FULL.replace('ref: main', 'ref: v2').replace('web[1:2]:', 'web[1:3]:').replace('agent', 'ops/key');
    await assert.rejects(
      apply(program, text),
      refusal('not_found', /^inventories\.prod .*There is no secret ops\/key/),
    );
    const { changes } = await apply(program, text.replace('ops/key', 'agent'));
    assert.deepEqual(changesOf({ changes } as Diff), ['change source infra', 'change inventory prod']);
    const [source] = await program.store.db.selectFrom('sources').selectAll().where('name', '=', 'infra').execute();
    assert.deepEqual([source?.ref, source?.commit_id], ['v2', 'c'.repeat(40)]);
    // Written in another way, the same inventory does not differ.
    const ini = FULL.replace(/text: \|[^-]*?webhooks:/, 'text: "[web]\\nweb[1:3] ansible_user=ops\\n"\nwebhooks:');
    const [again] = (await diff(program, ini)).changes.filter(({ kind }) => kind === 'inventory');
    assert.deepEqual(
      again?.fields.map(({ field }) => field),
      ['text'],
      'its variable is gone',
    );
    assert.deepEqual(changesOf(await diff(program, (await exported(program)).replace(/web:\n/, 'web: \n'))), []);
    await assert.rejects(
      diff(program, FULL.replace('    ssh_key: agent\n', '')),
      refusal('conflict', /ssh_key: .*keeps one/),
    );
  });

  test('shows a long text from the first line that differs', async (t) => {
    const program = await startProgram(t);
    const hosts = Array.from({ length: 60 }, (_, i) => `host${i}.example.org`);
    await apply(program, inventoryFile(hosts));
    const [change] = (await diff(program, inventoryFile([...hosts.slice(0, 50), ...hosts.slice(51)]))).changes;
    const [{ from, to } = { from: '', to: '' }] = change?.fields ?? [];
    assert.match(from ?? '', /^…    host50\.example\.org:\n/);
    assert.match(to ?? '', /^…    host51\.example\.org:\n/);
  });

  test('is refused with line and column for one mistake, and changes nothing', async (t) => {
    const program = await startProgram(t);
    const first = 'netgroups:\n  - {name: dc, prefixes: [10.0.0.0/8]}\n';
    const before = await rowsOf(program);
    for (const [text, message] of [
      [
        'checks:\n  - {name: a, kind: tcp, interval: 0s, targets: ["a=10.0.0.1:1"]}',
        /^checks\.a\.interval \(line 4, column 36\)/,
      ],
      [
        'checks:\n  - {name: a, kind: tcp, interval: 1s, targets: ["a=h"]}',
        /^checks\.a\.targets\.0 \(line 4, column 50\)/,
      ],
      [
        'checks:\n  - {name: a, kind: tcp, interval: 1s, tragets: []}',
        /^checks\.a\."tragets" \(line 4, column 49\).*perhaps "targets"/,
      ],
      ['checks:\n  - {kind: tcp}', /^checks\[0\]\.name \(line 4, column 5\): this field is required/],
      ['checks:\n  - {name: a}', /^checks\.a \(line 4, column 5\): kind: expected one of/],
      ['checks:\n  - {name: a, name: b}', /^file, line 4, column 15: the name "name" was given more than once/],
      ['checks:\n  - name: a\n  - name: a', /^checks\[1\]\.name \(line 5, column 11\): line 4 has one/],
      ['checks: 5', /^checks \(line 3, column 9\): expected a list/],
      ['chekcs: []', /^"chekcs" \(line 3, column 9\): no such field here; perhaps "checks"/],
      ['schedules:\n  - {name: a, cron: "0 3 * *", plan: net}', /^schedules\.a\.cron \(line 4, column 21\)/],
      [
        'schedules:\n  - {name: a, cron: 0 3 * * *, plan: net}',
        /^schedules\.a \(line 4, column 5\): There is no workspace net/,
      ],
      ['schedules:\n  - {name: a, cron: 0 3 * * *}', /^schedules\.a \(line 4, column 5\): .*expected exactly one/],
      ['rules:\n  - {name: a, when: event.nmae == "x", action: {plan: net}}', /^rules\.a\.when \(line 4, column 21\)/],
      ['rules:\n  - {name: a, when: true, action: {paln: net}}', /^rules\.a\.action\."paln" \(line 4, column 42\)/],
      ['rules:\n  - {name: a, when: true, action: {plan: net}, enabled: perhaps}', /^rules\.a\.enabled \(line 4/],
      [
        'workflows:\n  - {name: a, steps: [{name: b, needs: [c], plan: net}]}',
        /^workflows\.a\.steps\.b\.needs \(line 4, column 41\)/,
      ],
      [`workspaces:\n  - {name: a, source: infra, deny_when: nonsense}`, /^workspaces\.a\.deny_when \(line 4/],
      ['workspaces:\n  - {name: a, source: nosuch}', /^workspaces\.a \(line 4, column 5\): There is no source nosuch/],
      ['sources:\n  - {name: a, ref: main}', /^sources\.a \(line 4, column 5\): dir, git: expected one of the two/],
      [
        'inventories:\n  - {name: a, text: "web:"}',
        /^inventories\.a \(line 4, column 5\): .*the inventory has no host/,
      ],
      [
        'inventories:\n  - {name: localhost, text: "h1"}',
        /^inventories\.localhost\.name \(line 4, column 12\): .*always exists/,
      ],
      [
        'inventories:\n  - {name: a, text: "h1", ssh_key: a/b}',
        /^inventories\.a \(line 4, column 5\): There is no secret a\/b/,
      ],
      ['netgroups2: !!js/function x', /^file, line 3, column \d+: /],
      ['set: "not a name"', /^set \(line 3, column 6\)/],
    ] as const) {
      const whole = `${first}${text}\n`;
      for (const verb of [diff, apply])
        if (verb === apply || !/There is no/.test(message.source))
          await assert.rejects(verb(program, whole), (error: unknown) => {
            assert.match((error as Error).message, message, text);
            return true;
          });
    }
    assert.deepEqual(await rowsOf(program), before);
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });

  test('T49: is bounded in size and depth', async (t) => {
    const program = await startProgram(t);
    await assert.rejects(
      diff(program, `#${'x'.repeat(4 * 1024 * 1024)}`),
      refusal('invalid_argument', /^text: expected at most 4194304 bytes/),
    );
    await assert.rejects(
      diff(program, `checks: ${'['.repeat(30_000)}`),
      refusal('invalid_argument', /too many brackets/),
    );
    await assert.rejects(diff(program, `checks: ${'- '.repeat(50)}a`), refusal('invalid_argument'));
    await assert.rejects(diff(program, 'a: &x [1]\nb: *x'), refusal('invalid_argument', /anchors and aliases/));
  });

  test('records each change like a call of its operation, and the file besides', async (t) => {
    const program = await startProgram(t);
    const count = async (): Promise<number> =>
      (await program.store.db.selectFrom('ledger').selectAll().execute()).length;
    const before = await count();
    await apply(program, `set: ops\nnetgroups:\n  - {name: dc, prefixes: [10.0.0.0/8]}\nrules:${RULE}\n`);
    const rows = await program.store.db.selectFrom('ledger').selectAll().orderBy('seq').execute();
    assert.equal(rows.length, before + 3);
    assert.deepEqual(
      rows.slice(before).map(({ operation, target }) => [operation, target]),
      [
        ['netgroup.add', 'dc'],
        ['rule.add', 'disk-full'],
        ['config.apply', 'ops'],
      ],
    );
    assert.deepEqual(JSON.parse(rows.at(-1)?.detail ?? ''), { added: 2, changed: 0, removed: 0, managed: 2 });
  });

  test('is read as a whole on the machine only, and agents have no tool for it', () => {
    const rows = OPERATIONS.filter(({ id }) => id.startsWith('config.'));
    assert.deepEqual(
      rows.map(({ id, http, mcp }) => [id, isNone(http), isNone(mcp)]),
      [
        ['config.export', true, true],
        ['config.diff', false, true],
        ['config.apply', false, true],
      ],
    );
  });
});
