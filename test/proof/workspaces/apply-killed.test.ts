/** The daemon dies in the middle of applies: what they made is in the state that the next plan starts from. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { describe, test } from 'node:test';
import { until } from '../../support/api-client.ts';
import { addWorkspace, linesOf, planViewOf, runToEnd } from '../../support/infrastructure.ts';
import { openFixture, processesOf, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const KILLS = 20;
/** More than the kills let be made: one to three each, and on a busy machine some more before the apply ends. */
const RESOURCES = 150;

interface Counter {
  readonly port: number;
  /** The names that were reported, in order. */
  readonly answer: string[];
  close(): Promise<void>;
}

/** Each resource reports its name when it is made: a second witness beside the state. */
async function startCounter(): Promise<Counter> {
  const answer: string[] = [];
  const server: Server = createServer((socket) => {
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => {
      // A witness that was killed before it wrote opened a connection only.
      if (text.endsWith('\n')) answer.push(text.trim());
      socket.end();
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    answer,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

function chain(port: number): string {
  const blocks = Array.from({ length: RESOURCES }, (_, n) => {
    const after = n === 0 ? '' : `  depends_on = [terraform_data.r${n - 1}]\n`;
    const tell = `echo r${n} > /dev/tcp/127.0.0.1/${port}; sleep 0.02`;
    const shell = 'interpreter = ["/bin/bash", "-c"]';
    const provisioner = `  provisioner "local-exec" {\n    ${shell}\n    command = "${tell}"\n  }\n`;
    return `resource "terraform_data" "r${n}" {\n  input = ${n}\n${after}${provisioner}}\n`;
  });
  return blocks.join('\n');
}

/**
 * The resources that the next plan would create do not exist yet; those that it would replace exist, but their
 * creation was interrupted.
 */
async function nextPlan(fixture: Fixture): Promise<{ unmade: Set<string>; halfMade: string[] }> {
  const job = await runToEnd(fixture, 'plan', 'chain');
  assert.equal(job.state, 'succeeded', (await linesOf(fixture, job.id)).join('\n'));
  const view = await planViewOf(fixture, job.plan_artifact_id ?? '');
  return {
    unmade: new Set(view.creates.map((entry) => entry.name)),
    halfMade: view.destroys.map((entry) => entry.name),
  };
}

describe('An apply whose daemon dies', { skip: needs('terraform or tofu') }, () => {
  test(
    `T20: after kill -9 at ${KILLS} points every resource that was made is in the next plan, and no secret or ` +
      'plan is left',
    async (t) => {
      const fixture = await openFixture(t);
      const counter = await startCounter();
      t.after(() => counter.close());
      let daemon = await fixture.start();
      await addWorkspace(fixture, 'chain', chain(counter.port));
      const again = new Set<string>();
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = counter.answer.length;
        const { job_id: id } = await fixture.call<{ job_id: string }>('workspace.apply', { name: 'chain' });
        // Between the claim and the third resource, at another moment each time.
        const wanted = kill % 4;
        if (wanted === 0)
          await until('the job runs', async () => ((await fixture.row(id)).state === 'running' ? true : undefined));
        else await until('resources are made', () => (counter.answer.length >= before + wanted ? true : undefined));
        await daemon.kill();
        daemon = await fixture.start();
        await fixture.waitFor(id, ['interrupted'], 30_000);
        assert.deepEqual(processesOf(new Set([id])), [], 'a process of the killed apply still runs');
        const { unmade, halfMade } = await nextPlan(fixture);
        for (const name of halfMade) again.add(name);
        const forgotten = counter.answer.filter((name) => unmade.has(name));
        assert.deepEqual(forgotten, [], `after kill ${kill + 1} the state has forgotten these`);
      }
      assert.ok(counter.answer.length >= KILLS, 'the kills came before anything was made');
      const twice = counter.answer.filter((name, at) => counter.answer.indexOf(name) !== at && !again.has(name));
      assert.deepEqual(twice, [], 'these were made again though the state had them whole');
    },
  );
});
