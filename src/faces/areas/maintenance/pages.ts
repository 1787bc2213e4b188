import type { AreaPages } from '../../console/area-pages.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { html, type Html } from '../../html/html.ts';
import { type Page, type PageRequest, typed } from '../../console/page.ts';

type Readiness = Projected<'maintenance.readiness'>;
type Nodes = Projected<'node.list'>;

/** Daemons that have a form to restart them: the first ones that are not gone. */
const RESTARTS_MAX = 20;
/** Rows of a thousand took 20 ms in one turn of the event loop. */
const INTERRUPTED_MAX = 100;

const PAGE: Page = {
  path: '/maintenance',
  section: 'System',
  title: 'Maintenance',
  reads: ['maintenance.readiness', 'node.list', 'maintenance.restart-status', 'maintenance.interrupted'],
  async show(request) {
    const { ask } = request;
    const [readiness, nodes] = await Promise.all([readinessOf(request), ask('node.list', 'node.list')]);
    const ofDaemon =
      readiness === null ? html`` : html`${await restartsHtml(nodes, request)}${await interruptedHtml(request)}`;
    const content = html`<p>While the service is cordoned, running jobs continue, no job starts and no rule fires.</p>
${readinessHtml(readiness, request)}<h2>Daemons</h2>
${request.view('node.list', nodes)}
${ofDaemon}`;
    return { title: titleOf(readiness), content };
  },
};

/** Null in a process without a job queue, which has no daemon to ask. */
async function readinessOf({ ask }: PageRequest): Promise<Readiness | null> {
  try {
    return await ask('maintenance.readiness', 'maintenance.readiness');
  } catch (error) {
    if (error instanceof Failure && error.code === 'unavailable') return null;
    throw error;
  }
}

function titleOf(readiness: Readiness | null): string {
  if (readiness === null) return 'Only the daemon knows whether it is safe to reboot';
  const { cordoned, in_flight: running, safe_to_reboot: safe } = readiness;
  if (safe) return 'It is safe to reboot';
  if (!cordoned) return 'The service is open: jobs start and rules fire';
  return `Not yet safe to reboot: ${running} ${running === 1 ? 'job runs' : 'jobs run'}`;
}

function readinessHtml(readiness: Readiness | null, request: PageRequest): Html {
  if (readiness === null)
    return html`<p class="line">This process (<code>svc web</code>) has no job queue. It sees the daemons below in the \
store; ask one of them: <code>svc maintenance readiness</code></p>\n`;
  const button = readiness.cordoned
    ? request.form({
        path: '/maintenance/uncordon',
        operation: 'maintenance.uncordon',
        label: 'Lift the cordon',
        look: 'yes',
      })
    : request.form({ path: '/maintenance/cordon', operation: 'maintenance.cordon', label: 'Cordon the service' });
  return html`<div class="acts">${button}</div>
${request.view('maintenance.readiness', readiness)}`;
}

/** How each daemon becomes the new program on disk, and what became of that. */
async function restartsHtml(nodes: Nodes, request: PageRequest): Promise<Html> {
  const alive = nodes.filter(({ state }) => state !== 'gone');
  const parts = await Promise.all(alive.slice(0, RESTARTS_MAX).map(({ name }) => restartHtml(name, request)));
  return html`<h2>Restart in place</h2>
<p>Install the new program first. The daemon tries it, waits for its jobs, and becomes it in the same process.</p>
${parts}`;
}

async function restartHtml(node: string, request: PageRequest): Promise<Html> {
  const form = request.form({
    path: `/maintenance/nodes/${encodeURIComponent(node)}/restart`,
    operation: 'maintenance.restart',
    label: `Restart ${node}`,
    look: 'danger',
    fields: typed(`Type ${node} to restart it`),
  });
  const last = await request.ask('maintenance.restart-status', 'maintenance.restart', { node }).catch(nullIfGone);
  const known = last === null || last.requested_at === null ? html`` : request.view('maintenance.restart', last);
  return html`<div class="acts">${form}</div>\n${known}\n`;
}

/** A daemon that has stopped since it was listed. */
function nullIfGone(error: unknown): null {
  if (error instanceof Failure && error.code === 'unavailable') return null;
  throw error;
}

async function interruptedHtml(request: PageRequest): Promise<Html> {
  const jobs = await request.ask('maintenance.interrupted', 'job.list');
  const again =
    jobs.length === 0 ? html`` : html`<p class="soft">Queue them again with: <code>svc job redrive</code></p>\n`;
  const list = request.view('job.list', jobs.slice(0, INTERRUPTED_MAX));
  const cut = `The first ${INTERRUPTED_MAX} of ${jobs.length}. All:`;
  const more =
    jobs.length <= INTERRUPTED_MAX
      ? html``
      : html`<p class="soft">${cut} <code>svc maintenance interrupted</code></p>\n`;
  return html`<h2>Interrupted jobs</h2>\n${list}\n${more}${again}`;
}

const toMaintenance = (): string => '/maintenance';

export const MAINTENANCE: AreaPages = {
  pages: [PAGE],
  actions: [
    {
      path: '/maintenance/cordon',
      operation: 'maintenance.cordon',
      fields: [],
      page: '/maintenance',
      goesTo: toMaintenance,
    },
    {
      path: '/maintenance/uncordon',
      operation: 'maintenance.uncordon',
      fields: [],
      page: '/maintenance',
      goesTo: toMaintenance,
    },
    {
      path: '/maintenance/nodes/:node/restart',
      operation: 'maintenance.restart',
      fields: [],
      page: '/maintenance',
      goesTo: toMaintenance,
      confirms: () => true,
    },
  ],
};
