/** Where notifications of a person are sent, and this browser as one more of those places. */
import type { AreaPages } from '../../console/area-pages.ts';
import { html, type Html } from '../../html/html.ts';
import { DEVICES_SCRIPT_PATH, WORKER_PATH } from '../../console/assets.ts';
import type { PageRequest } from '../../console/page.ts';
import { commandNote, plainPage } from '../../console/plain.ts';

const LABEL_MAX = 100;

const DEVICES = plainPage({
  path: '/devices',
  section: 'System',
  title: 'Devices',
  parts: [
    {
      operation: 'notify.endpoint.list',
      kind: 'notify.endpoint.list',
      note: commandNote('Register another device of yours with:', 'notify.endpoint.add'),
    },
    { operation: 'notify.key', kind: 'notify.key', heading: 'This browser', show: browserPanel },
  ],
});

export const NOTIFY: AreaPages = { pages: [DEVICES] };

/**
 * One form, so that a look at the page leaves it alone once it is filled in. Its fields have no names: without the
 * script nothing of it may become part of a URL.
 */
async function browserPanel({ ask, url }: PageRequest): Promise<Html> {
  const { public_key: key } = await ask('notify.key', 'notify.key');
  return html`<p>Notifications can come to this browser, also while no page of the console is open. On iOS the site \
must be on the home screen; ntfy works everywhere.</p>
<noscript><p class="line">This needs scripts.</p></noscript>
<form id="push" class="stack" autocomplete="off" data-key="${key}" data-worker="${url(WORKER_PATH)}" \
data-scope="${url('/')}" data-api="${url('/api/v1/notify/endpoints')}">
<div data-part="first"><button>Subscribe this browser</button></div>
<div data-part="subscribed" hidden>
<p><label>Run this with your token, from where you use the command line: \
<textarea data-field="command" rows="5" cols="60" readonly></textarea></label></p>
<p>Or register it here. A session registers no device, so this takes a token with the scope operator. It is sent in \
one request and kept nowhere. The device of somebody with the scope approve is registered on the machine, with the \
flag <code>--owner</code>.</p>
<p><label>Label <input data-field="label" maxlength="${LABEL_MAX}" placeholder="browser"></label>
<label>Token <input data-field="token" type="password" autocomplete="off"></label> <button>Register</button></p>
</div>
<p role="status"></p>
</form>
<script defer src="${url(DEVICES_SCRIPT_PATH)}"></script>
`;
}
