/** What the command line says after a check was made or changed, and after a probe. Listeners are on loopback. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import type { ProbeOrder } from '../../../src/operations/checks/services.ts';
import { Prober } from '../../../src/operations/checks/prober.ts';
import { refusedTargets } from '../../../src/faces/cli/remarks/down-targets.ts';
import { listen, listenHttp } from '../../support/network/listener.ts';
import { loopbackProbes } from '../../support/network/probing.ts';
import { startProgram } from '../../support/program.ts';
import { appOf, type Ran, svc } from '../../support/terminal.ts';

type Ending = Pick<TestContext, 'after'>;

/** The command line against a server whose probes may reach loopback. */
async function remoteLine(t: Ending, clock: Clock = systemClock): Promise<(words: string) => Promise<Ran>> {
  const deps = loopbackProbes();
  const program = await startProgram(t, { prober: new Prober(systemClock, () => Promise.resolve(deps)) });
  const env = { SVC_TOKEN: program.tokens.operator, SVC_REMOTE: program.url };
  return (words) => svc(words.split(' '), { env, clock });
}

async function closedPort(t: Ending): Promise<number> {
  const closed = await listen(t);
  await closed.close();
  return closed.port;
}

describe('After a check was made or changed, text mode', () => {
  test('names targets that are down now and why, those that no probe reaches, and those that are up', async (t) => {
    const up = await listenHttp(t, (_, response) => response.end());
    const run = await remoteLine(t);
    const down = `b=http://localhost:${await closedPort(t)}/`;
    const added = await run(
      `check add web --kind http --interval 1h --target a=http://localhost:${up.port}/ --target ${down}`,
    );
    assert.equal(added.exitCode, 0, added.stderr);
    assert.equal(added.stderr, 'Down now: b (refused). See why: svc check probe web\n');
    const refused = await run(`check update web --target ${down} --target c=http://169.254.169.254/`);
    assert.equal(
      refused.stderr,
      'Never up, because probes of these addresses are refused (forbidden_address): c.\n' +
        'Down now: b (refused). See why: svc check probe web\n',
    );
    const mended = await run(`check update web --target b=http://localhost:${up.port}/`);
    assert.equal(mended.stderr, 'Probed now: 1 up.\n');
  });

  test('probes ten targets at most, and none of a check that is disabled', async (t) => {
    const up = await listenHttp(t, (_, response) => response.end());
    const run = await remoteLine(t);
    const targets = Array.from({ length: 12 }, (_, n) => `--target t${n}=http://localhost:${up.port}/`).join(' ');
    const many = await run(`check add many --kind http --interval 1h ${targets}`);
    assert.equal(many.stderr, 'Probed now: 10 up.\nThe other 2 targets were not probed here.\n');
    await run('check disable many');
    assert.equal((await run(`check update many ${targets}`)).stderr, '');
  });

  test('waits 5s at most for a target that is silent', async (t) => {
    const waits = new Map<number, () => void>();
    const silent = await listen(t, () => waits.get(5_000)?.());
    const after = (ms: number, fire: () => void): (() => void) => {
      waits.set(ms, fire);
      return () => undefined;
    };
    const run = await remoteLine(t, { ...systemClock, after });
    const { stderr } = await run(`check add web --kind http --interval 1h --target a=http://localhost:${silent.port}/`);
    assert.equal(stderr, 'No answer within 5s: a. See why: svc check probe web\n');
  });

  test('says why where nothing was probed', async (t) => {
    const refusing = { probeAll: () => Promise.reject(new Failure('not_implemented', 'No probe here.')) };
    const program = await startProgram(t, { prober: refusing as unknown as Prober });
    const env = { SVC_TOKEN: program.tokens.operator, SVC_REMOTE: program.url };
    const words = 'check add web --kind ping --interval 1h --target a=10.0.0.5 --target b=10.0.0.6';
    assert.equal((await svc(words.split(' '), { env })).stderr, 'Not probed: No probe here.\n');
  });

  test('says what is down also where another target was not probed', async (t) => {
    const some = {
      probeAll: (_: string, [order]: readonly ProbeOrder[]) =>
        order?.key.startsWith('web/a/') === true
          ? Promise.resolve([{ up: false, durationMs: 1, detail: 'refused' }])
          : Promise.reject(new Failure('unavailable', 'Too many.')),
    };
    const program = await startProgram(t, { prober: some as unknown as Prober });
    const env = { SVC_TOKEN: program.tokens.operator, SVC_REMOTE: program.url };
    const words = 'check add web --kind ping --interval 1h --target a=10.0.0.5 --target b=10.0.0.6';
    assert.equal(
      (await svc(words.split(' '), { env })).stderr,
      'Down now: a (refused). See why: svc check probe web\nNot probed: Too many.\n',
    );
  });

  test('says nothing where the answer is JSON', async (t) => {
    const run = await remoteLine(t);
    const { stderr } = await run(
      `check add web --kind http --interval 1h --target a=http://localhost:1/ --output json`,
    );
    assert.equal(stderr, '');
  });
});

test('An address that a probe may not reach is found by its literal alone', () => {
  assert.deepEqual(refusedTargets('tcp', ['a=127.0.0.1:80', 'b=10.0.0.5:443', 'd=[fe80::1]:80']), ['a', 'd']);
  const urls = ['a=http://u:p@[::1]:8080/x', 'b=https://www.example.org/', 'c=http://169.254.169.254/'];
  assert.deepEqual(refusedTargets('http', urls), ['a', 'c']);
  assert.deepEqual(refusedTargets('dns', ['a=localhost']), []);
});

test('A probe names the process whose settings it used', async (t) => {
  const program = await startProgram(t);
  await svc(['check', 'add', 'web', '--kind', 'tcp', '--interval', '1h', '--target', 'a=127.0.0.1:80'], {
    app: appOf(program),
  });
  const local = await svc(['check', 'probe', 'web'], { app: appOf(program) });
  assert.equal(
    local.stderr,
    'Probed by this command, without --check-ca-file and without --check-refuse-own-addresses; ' +
      'the daemon uses its own settings.\n',
  );
  const env = { SVC_TOKEN: program.tokens.readonly, SVC_REMOTE: program.url };
  const remote = await svc(['check', 'probe', 'web'], { env });
  assert.equal(remote.stderr, `Probed by the daemon at ${program.url}, with its settings.\n`);
  const json = await svc(['check', 'probe', 'web', '--output', 'json'], { env });
  assert.equal(json.stderr, '');
});
