/** A playbook run without the daemon: the same ansible-playbook with the same arguments, in the same environment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlaybookSpec } from '../../src/domain/playbooks/playbook.ts';
import { placeInputs, type PlaybookMaterials } from '../../src/runners/ansible/inputs.ts';
import { cleanEnvironment } from '../kit/scratch.ts';
import { monotonicMs } from '../kit/time.ts';

/** What only the service needs: its report of plays and tasks. */
const OF_REPORT: readonly string[] = ['SVC_REPORT_FD', 'ANSIBLE_CALLBACK_PLUGINS', 'ANSIBLE_CALLBACKS_ENABLED'];

/** Writes the files that ansible-playbook is given; answers a run, in milliseconds from its start to its end. */
export async function prepareBarePlaybook(
  dir: string,
  spec: PlaybookSpec,
  materials: PlaybookMaterials,
): Promise<() => Promise<number>> {
  const inputs = join(dir, 'inputs');
  mkdirSync(inputs);
  const { options, environment } = await placeInputs(spec, materials, new Map(), {
    runDir: dir,
    placeInput(name, bytes) {
      writeFileSync(join(inputs, name), bytes, { mode: 0o600 });
      return Promise.resolve(join(inputs, name));
    },
  });
  const own = Object.entries(environment).filter(([name]) => !OF_REPORT.includes(name));
  const env = { PATH: cleanEnvironment()['PATH'], LANG: 'C.UTF-8', HOME: dir, TMPDIR: dir, ...Object.fromEntries(own) };
  const args = [...options, '--', join(materials.tree.path, spec.playbook)];
  return async () => {
    const before = monotonicMs();
    const child = spawn('ansible-playbook', args, { cwd: materials.tree.path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`ansible-playbook ended with ${code}: ${output.slice(-500)}`);
    return monotonicMs() - before;
  };
}
