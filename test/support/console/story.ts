/** A store in which each page of the console has something to show, some of it hostile. */
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
}

export async function tellStory(program: Program): Promise<Story> {
  const jobId = await program.queue();
  await program.claim();
  await program.print(jobId, ['plain', `\u001b[31mred\u001b[0m ${EVIL}`]);
  await program.finish(jobId, { state: 'failed', exitCode: 1 });
  const { approval } = await gate(program.store, {});
  const [event] = await putEvents(program.store, [
    { name: EVIL, labels: JSON.stringify({ [EVIL]: EVIL }), reason: EVIL, trace: '[]' },
  ]);
  const check = { name: 'web', kind: 'tcp', interval: '1h', targets: ['one=192.0.2.1:9'] };
  const response = await fetch(`${program.url}/api/v1/checks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${program.tokens.operator}`, 'content-type': 'application/json' },
    body: JSON.stringify(check),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return { id: { jobs: jobId, approvals: approval.id, events: event?.id ?? '' }, check: 'web', workspace: 'net' };
}

/** The path of a page, with a thing of the story for its parameter; null where the story has no such thing. */
export function pathOf(path: string, { id, check, workspace }: Story): string | null {
  const things: Readonly<Record<string, string>> = {
    '/jobs/:id': `/jobs/${id.jobs}`,
    '/approvals/:id': `/approvals/${id.approvals}`,
    '/events/:id': `/events/${id.events}`,
    '/checks/:name': `/checks/${check}`,
    '/workspaces/:name': `/workspaces/${workspace}`,
  };
  return path.includes(':') ? (things[path] ?? null) : path;
}
