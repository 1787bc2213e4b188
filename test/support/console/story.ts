/** A store in which each page of the console has something to show, some of it hostile. */
import { localCaller } from '../../../src/domain/access/caller.ts';
import { toJson } from '../../../src/lib/json.ts';
import { operationOf } from '../../../src/faces/console/asker.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { encodeResults, insertResults } from '../../../src/store/playbooks/results.ts';
import { gate } from '../fixtures/approvals.ts';
import { putEvents } from '../fixtures/events.ts';
import type { Program } from '../program.ts';

/** Markup, a bidirectional trick and a sequence of a terminal. */
export const EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u001b[2J';

/** What the pages with parameters are about. */
interface Story {
  readonly id: Readonly<Record<'jobs' | 'approvals' | 'events', string>>;
  readonly check: string;
  readonly workspace: string;
  readonly workflow: string;
  readonly run: string;
}

/** Two that need one, and one that needs both. */
const WORKFLOW = `steps:
  - name: prepare
    command: ['true']
    inventory: localhost
  - name: left
    needs: [prepare]
    command: ['true']
    inventory: localhost
  - name: right
    needs: [prepare]
    command: ['true']
    inventory: localhost
  - name: finish
    needs: [left, right]
    command: ['true']
    inventory: localhost
`;

/** What an operation of the machine answers. */
export async function onMachine<T>({ store, services }: Program, id: string, raw: object): Promise<T> {
  const answer = await invoke({ store, services }, operationOf(id), { caller: localCaller('story'), raw: { ...raw } });
  if (answer.shape !== 'body') throw new Error(`${id} has no answer`);
  return answer.data as T;
}

/** A host that failed, and one on which something changed, of two tasks. */
function playbook(): Parameters<typeof encodeResults>[0] {
  const counts = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
  const failed = { ...counts, failures: 1, failure: { task: 1, message: EVIL } };
  return {
    recap: { ...RECAP, hosts: 2, good: 1, failed: 1 },
    hosts: [
      { host: 'web1', ...counts, changed: 1, failure: null, cells: 'oc' },
      { host: EVIL, ...failed, cells: 'of' },
    ],
    tasks: [
      { play: EVIL, task: 'Install' },
      { play: 'Site', task: EVIL },
    ],
    hostsCut: 0,
    tasksCut: 3,
  };
}

const RECAP = { ended: true, plays: 1, playsWithoutHosts: 0, playsLeft: 0, hostsLeft: 0, unreachable: 0 };

export async function tellStory(program: Program): Promise<Story> {
  const jobId = await program.queue();
  await program.claim();
  await program.print(jobId, ['plain', `\u001b[31mred\u001b[0m ${EVIL}`]);
  await program.finish(jobId, { state: 'failed', exitCode: 1 });
  const { approval } = await gate(program.store, {});
  const [event] = await putEvents(program.store, [
    { name: EVIL, labels: toJson({ [EVIL]: EVIL }), reason: EVIL, trace: toJson([]) },
  ]);
  const check = { name: 'web', kind: 'tcp', interval: '1h', targets: ['one=192.0.2.1:9'] };
  const response = await fetch(`${program.url}/api/v1/checks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${program.tokens.operator}`, 'content-type': 'application/json' },
    body: JSON.stringify(check),
  });
  if (response.status !== 200) throw new Error(await response.text());
  const results = await encodeResults(playbook());
  await program.store.write((tx) => insertResults(tx, jobId, results));
  await onMachine(program, 'workflow.add', { name: 'patch', text: WORKFLOW });
  const { run_id: run } = await onMachine<{ run_id: string }>(program, 'workflow.run', { name: 'patch' });
  return {
    id: { jobs: jobId, approvals: approval.id, events: event?.id ?? '' },
    check: 'web',
    workspace: 'net',
    workflow: 'patch',
    run,
  };
}

/** The path of a page, with a thing of the story for its parameter; null where the story has no such thing. */
export function pathOf(path: string, { id, check, workspace, workflow, run }: Story): string | null {
  const things: Readonly<Record<string, string>> = {
    '/jobs/:id': `/jobs/${id.jobs}`,
    '/jobs/:id/hosts': `/jobs/${id.jobs}/hosts`,
    '/approvals/:id': `/approvals/${id.approvals}`,
    '/events/:id': `/events/${id.events}`,
    '/checks/:name': `/checks/${check}`,
    '/workspaces/:name': `/workspaces/${workspace}`,
    '/workflows/:name': `/workflows/${workflow}`,
    '/runs/:run': `/runs/${run}`,
    '/docs/:area': '/docs/how-to',
    '/docs/:area/:topic': '/docs/reference/limits.md',
    '/docs/:area/:topic/:name': '/docs/how-to/checks/status-page.md',
  };
  return path.includes(':') ? (things[path] ?? null) : path;
}
