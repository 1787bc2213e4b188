import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Failure } from '../domain/failure.ts';
import { SchemaMismatch } from '../store/engine/migrate.ts';
import type { Store } from '../store/store.ts';
import { dataDirPaths } from '../config/data-dir.ts';
import { createDoctor } from './doctor.ts';
import type { DoctorEntry, DoctorParts, Finding } from './entry.ts';
import { install, type Installation } from '../../test/support/doctor-facts.ts';

const ORDER = [
  'data_dir',
  'store',
  'schema',
  'disk_room',
  'clock',
  'sandbox',
  'seal',
  'file_access',
  'backups',
  'optional_tools',
  'privilege_posture',
  'job_account',
  'daemons',
  'notifications',
  'schedules',
  'watches',
  'checks',
  'ingress',
  'rules',
  'audit_ledger',
  'invariants',
  'gate',
  'retention',
  'listeners',
];

function statuses(entries: readonly DoctorEntry[]): Record<string, string> {
  return Object.fromEntries(entries.map((entry) => [entry.name, entry.status]));
}

function thrower(error: unknown): () => never {
  return () => {
    throw error;
  };
}

const never = (): Promise<never> => new Promise(() => undefined);

describe('the doctor', () => {
  let home: Installation;
  let healthy: Record<string, string>;
  before(async () => {
    home = await install();
    healthy = statuses(await createDoctor(home.parts())());
  });
  after(() => home.remove());

  /**
   * Examines with `otherwise` and demands that exactly the entries in `expected` differ from a healthy installation.
   */
  async function demand(
    otherwise: Partial<DoctorParts>,
    expected: Record<string, string>,
  ): Promise<readonly DoctorEntry[]> {
    const entries = await createDoctor(home.parts(otherwise))();
    const room = entries.find((entry) => entry.name === 'disk_room')?.status ?? '';
    // How full the disk of the machine is, is not ours to say, unless the test speaks of it.
    assert.deepEqual(statuses(entries), { ...healthy, disk_room: room, ...expected });
    return entries;
  }

  test('reports every part in a fixed order, and a healthy installation is ok', () => {
    assert.deepEqual(Object.keys(healthy), ORDER);
    const { disk_room: room, ...others } = healthy;
    assert.ok(['ok', 'warn', 'fail'].includes(room ?? ''));
    for (const [name, status] of Object.entries(others))
      assert.equal(status, name === 'optional_tools' ? 'unknown' : 'ok', name);
  });

  test('a store that cannot be opened hides nothing else', async () => {
    const entries = await demand(
      {
        openedStore: thrower(
          Object.assign(new Error('file is not a database: /secret/place'), { errstr: 'file is not a database' }),
        ),
      },
      {
        store: 'fail',
        schema: 'unknown',
        privilege_posture: 'unknown',
        daemons: 'unknown',
        notifications: 'unknown',
        schedules: 'unknown',
        watches: 'unknown',
        checks: 'unknown',
        ingress: 'unknown',
        rules: 'unknown',
        audit_ledger: 'unknown',
        invariants: 'unknown',
        gate: 'unknown',
        retention: 'unknown',
        backups: 'unknown',
      },
    );
    assert.equal(entries[1]?.detail, 'The store cannot be used: file is not a database.');
    assert.doesNotMatch(JSON.stringify(entries), /secret/);
  });

  test('a store of a newer build is a fault of the schema', async () => {
    const entries = await demand(
      {
        openedStore: thrower(
          new SchemaMismatch('The store has schema 9 (x); this build knows schemas up to 1. Use the newer build.'),
        ),
      },
      {
        store: 'fail',
        schema: 'fail',
        privilege_posture: 'unknown',
        daemons: 'unknown',
        notifications: 'unknown',
        schedules: 'unknown',
        watches: 'unknown',
        checks: 'unknown',
        ingress: 'unknown',
        rules: 'unknown',
        audit_ledger: 'unknown',
        invariants: 'unknown',
        gate: 'unknown',
        retention: 'unknown',
        backups: 'unknown',
      },
    );
    assert.match(entries[2]?.detail ?? '', /The store has schema 9/);
  });

  test('a store whose every question fails leaves the other parts intact', async () => {
    const broken = new Proxy({} as Store, {
      get: thrower(Object.assign(new Error('password of bob'), { code: '28P01' })),
    });
    const entries = await demand(
      { openedStore: () => broken },
      {
        store: 'fail',
        schema: 'fail',
        privilege_posture: 'fail',
        daemons: 'fail',
        notifications: 'fail',
        schedules: 'fail',
        watches: 'fail',
        checks: 'fail',
        ingress: 'fail',
        rules: 'fail',
        audit_ledger: 'fail',
        invariants: 'fail',
        gate: 'fail',
        retention: 'fail',
        backups: 'fail',
      },
    );
    assert.doesNotMatch(JSON.stringify(entries), /bob/);
    assert.match(entries[1]?.detail ?? '', /28P01/);
  });

  test('a data directory that is not there hides nothing else', async () => {
    await demand(
      { paths: dataDirPaths('/nonexistent/gatehouse') },
      { data_dir: 'fail', disk_room: 'unknown', seal: 'warn' },
    );
  });

  test('a part that throws is its own fault only', async () => {
    await demand({ sandbox: thrower(new Error('no')) }, { sandbox: 'fail' });
    await demand({ sandbox: () => Promise.reject(new Error('no')) }, { sandbox: 'fail' });
    await demand({ listeners: thrower('a text') }, { listeners: 'fail' });
    const entries = await demand(
      { sandbox: thrower(new Failure('unavailable', 'The launcher is gone.')) },
      { sandbox: 'fail' },
    );
    assert.equal(entries[5]?.detail, 'The examination failed: The launcher is gone.');
  });

  test('a part that never answers is unknown after its time, and the report comes', async () => {
    const report = createDoctor(home.parts({ sandbox: never }))();
    await settled();
    home.clock.advance(5_000);
    const entry = (await report)[5];
    assert.deepEqual(entry, { name: 'sandbox', status: 'unknown', detail: 'No answer within 5s.' });
  });

  test('examinations that are under way are joined, also after a time-out', async () => {
    let asked = 0;
    let answer = Promise.withResolvers<Finding>();
    const sandbox = (): Promise<Finding> => {
      asked += 1;
      answer = Promise.withResolvers();
      return answer.promise;
    };
    const doctor = createDoctor(home.parts({ sandbox }));
    const early = [doctor(), doctor(), doctor()];
    await settled();
    home.clock.advance(5_000);
    assert.deepEqual(
      (await Promise.all(early)).map((report) => report[5]?.status),
      ['unknown', 'unknown', 'unknown'],
    );
    const late = doctor();
    answer.resolve({ status: 'ok', detail: 'At last.' });
    assert.equal((await late)[5]?.detail, 'At last.');
    assert.equal(asked, 1);
    // It took 5 s, and is reused for nine times as long.
    home.clock.advance(44_999);
    assert.equal((await doctor())[5]?.detail, 'At last.');
    assert.equal(asked, 1);
    home.clock.advance(1);
    const next = doctor();
    answer.resolve({ status: 'fail', detail: 'Gone again.' });
    assert.equal((await next)[5]?.status, 'fail');
    assert.equal(asked, 2);
  });

  test('a detail has an end', async () => {
    const entries = await demand(
      { sandbox: () => Promise.resolve({ status: 'ok', detail: 'x'.repeat(1_000_000) }) },
      {},
    );
    assert.equal(entries[5]?.detail.length, 2_000);
  });

  test('sandbox says what the process says of it', async () => {
    await demand({ sandbox: () => Promise.resolve({ status: 'fail', detail: 'no Landlock' }) }, { sandbox: 'fail' });
  });

  test('listeners are connected to, and one that does not accept is named', async (t) => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    t.after(() => new Promise((resolve) => server.close(resolve)));
    const web = { name: 'web', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const ingress = { name: 'ingress', url: 'http://127.0.0.1:1' };
    await demand({ listeners: () => [] }, { listeners: 'ok' });
    await demand({ listeners: () => [web] }, { listeners: 'ok' });
    const entries = await demand({ listeners: () => [web, ingress] }, { listeners: 'fail' });
    assert.equal(entries.at(-1)?.detail, `web ${web.url}, ingress ${ingress.url} NOT listening.`);
  });
});

/** Lets what needs no timer get as far as it can. */
async function settled(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
