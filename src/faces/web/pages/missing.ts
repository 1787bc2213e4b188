import { isId } from '../../../lib/id.ts';
import { html } from '../../html/html.ts';
import { shell } from '../../html/shell.ts';

/** Paths that notifications link to and that have no page yet, with the verb that shows the same. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['/approvals', 'svc approval list'],
  ['/jobs', 'svc job list'],
  ['/events', 'svc event list'],
  ['/devices', 'svc notify endpoint list'],
]);

const THINGS: readonly { readonly under: string; readonly prefix: string; readonly verb: string }[] = [
  { under: '/approvals/', prefix: 'apr', verb: 'svc approval get' },
  { under: '/jobs/', prefix: 'job', verb: 'svc job get' },
  { under: '/events/', prefix: 'evt', verb: 'svc event get' },
];

/**
 * The command that shows the same as a future page at `target` (path and query, without the base path); null if no
 * come. An id is repeated only where it has the form of ours. Whether there is such a thing is not looked at.
 */
export function commandInstead(target: string): string | null {
  const [path = ''] = target.split('?', 1);
  const thing = THINGS.find(({ under, prefix }) => path.startsWith(under) && isId(prefix, path.slice(under.length)));
  if (thing !== undefined) return `${thing.verb} ${path.slice(thing.under.length)}`;
  return LISTS.get(path) ?? null;
}

export function missingPage(basePath: string): string {
  return shell('Not found', html`<p>There is no such page. <a href="${basePath}/">Go to the dashboard</a>.</p>`);
}

/** For a path without a page yet: `command` shows the same. */
export function unmadePage(basePath: string, command: string): string {
  return shell(
    'No page yet',
    html`<p>This page is not made yet. On the command line the same is shown by:</p>
<p><code>${command}</code></p>
<p><a href="${basePath}/">Go to the dashboard</a>.</p>`,
  );
}
