/** Where jobs of the demo run: in the sandbox, or outside where this machine has none. */
import { api, type Demo, say } from './demo-service.ts';

interface DoctorEntry {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

/** What follows is about the bounds of jobs. */
const BOUNDS = '; memory and processes of each job';

/** Asks the doctor of the daemon; says it where jobs cannot be sandboxed. */
export async function findsSandbox(demo: Pick<Demo, 'ready' | 'token'>): Promise<boolean> {
  const entries = await api<readonly DoctorEntry[]>(demo, '/health');
  const sandbox = entries.find(({ name }) => name === 'sandbox');
  if (sandbox?.status !== 'fail') return true;
  say(`   Jobs cannot be sandboxed on this machine: ${sandbox.detail.split(BOUNDS)[0]}.`);
  say('   So the jobs of this demo are privileged: they have all rights of the account of the daemon.');
  return false;
}
