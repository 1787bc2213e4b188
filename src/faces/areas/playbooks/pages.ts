/** How a playbook ended on each of its hosts. */
import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import { isTerminal } from '../../../domain/jobs/job.ts';
import { html, type Html } from '../../html/html.ts';
import { hostBlocks } from './text.ts';
import { JOB_PAINTS } from '../jobs/text.ts';
import { blocksHtml } from '../../console/blocks.ts';
import { mark } from '../../console/marks.ts';
import { matrixHtml } from './matrix.ts';
import type { Page, PageRequest } from '../../console/page.ts';

/** The way to the hosts of a playbook that has ended; nothing for another kind. */
async function hostsOf({ ask, url, params }: PageRequest): Promise<Html> {
  const { id, state } = await ask('job.get', 'job.get', params);
  if (!isTerminal(state)) return html``;
  try {
    const { hosts, hosts_left_out: others } = await ask('playbook.hosts', 'playbook.hosts', { id, limit: 1 });
    const count = hosts.length + others;
    const what = count === 1 ? 'One host' : `${count} hosts`;
    return html`<p><a href="${url(`/jobs/${id}/hosts`)}">${what}, task by task</a></p>\n`;
  } catch (error) {
    if (error instanceof Failure) return html``;
    throw error;
  }
}

const HOSTS: Page = {
  path: '/jobs/:id/hosts',
  section: 'Jobs',
  title: 'Hosts of a playbook',
  reads: ['playbook.hosts', 'job.get'],
  async show(request) {
    const { params, ask, url } = request;
    const [job, hosts] = await Promise.all([
      ask('job.get', 'job.get', params),
      ask('playbook.hosts', 'playbook.hosts', params),
    ]);
    const content = html`<p><a href="${url(`/jobs/${job.id}`)}">The job and its output</a></p>
${blocksHtml(hostBlocks(hosts), request)}${matrixHtml(hosts)}`;
    return { title: `Hosts of ${job.runbook}`, state: mark(job.state, JOB_PAINTS[job.state]), content };
  },
};

export const PLAYBOOKS: AreaPages = {
  pages: [HOSTS],
  additions: [{ to: '/jobs/:id', reads: ['playbook.hosts'], show: hostsOf }],
};
