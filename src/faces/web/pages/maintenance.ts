import { html } from '../../html/html.ts';
import { textOf } from '../../text/render.ts';
import { blocksHtml } from '../console/blocks.ts';
import type { Page } from './page.ts';

const MAINTENANCE: Page = {
  path: '/maintenance',
  section: 'System',
  title: 'Maintenance',
  reads: ['maintenance.readiness', 'node.list', 'maintenance.interrupted'],
  async show(request) {
    const { ask, form, display } = request;
    const [readiness, nodes, interrupted] = await Promise.all([
      ask('maintenance.readiness', 'maintenance.readiness'),
      ask('node.list', 'node.list'),
      ask('maintenance.interrupted', 'job.list'),
    ]);
    const { cordoned, in_flight: running, safe_to_reboot: safe } = readiness;
    const button = cordoned
      ? form({
          path: '/maintenance/uncordon',
          operation: 'maintenance.uncordon',
          label: 'Lift the cordon',
          look: 'yes',
        })
      : form({ path: '/maintenance/cordon', operation: 'maintenance.cordon', label: 'Cordon the service' });
    const title = safe
      ? 'It is safe to reboot'
      : cordoned
        ? `Not yet safe to reboot: ${running} ${running === 1 ? 'job runs' : 'jobs run'}`
        : 'The service is open: jobs start and rules fire';
    const again =
      interrupted.length === 0
        ? html``
        : html`<p class="soft">Queue them again with: <code>svc job redrive</code></p>\n`;
    const content = html`<p>While the service is cordoned, running jobs continue, no job starts and no rule fires.</p>
<div class="acts">${button}</div>
${blocksHtml(textOf('maintenance.readiness', readiness, display), request)}
<h2>Daemons</h2>
${blocksHtml(textOf('node.list', nodes, display), request)}
<h2>Interrupted jobs</h2>
${blocksHtml(textOf('job.list', interrupted, display), request)}
${again}`;
    return { title, content };
  },
};

export const MAINTENANCE_PAGES = [MAINTENANCE];
