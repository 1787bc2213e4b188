import { READERS } from '../../../domain/access/scope.ts';
import { html, type Html } from '../../html/html.ts';
import type { Page, PageFacts } from './page.ts';

export const DASHBOARD: Page = { path: '/', title: 'Gatehouse', scopes: READERS, content };

function content({ basePath, version, visitor }: PageFacts): Html {
  const signOut =
    visitor.csrf === null
      ? html``
      : html`<form method="post" action="${basePath}/logout">
<input type="hidden" name="csrf" value="${visitor.csrf}">
<button class="yes">Sign out</button>
</form>`;
  const { name, scope } = visitor;
  return html`<p>Version ${version} is running. You are signed in as ${name} with the scope ${scope}.</p>
<ul>
<li><a href="${basePath}/api/v1/jobs">Jobs</a></li>
<li><a href="${basePath}/api/v1/health">Health</a></li>
<li><a href="${basePath}/api/v1/openapi.json">The API, described in OpenAPI</a></li>
</ul>
<p>The command <code>svc --help</code> shows what can be done from a terminal.</p>
${signOut}`;
}
