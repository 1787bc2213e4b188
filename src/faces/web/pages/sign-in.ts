import { html } from '../../html/html.ts';
import { shell } from '../../html/shell.ts';

/** Shows neither the version nor the host. `next` is the path that the visitor asked for, without the base path. */
export function signInPage(basePath: string, next: string, message?: string): string {
  const alert = message === undefined ? html`` : html`<p role="alert">${message}</p>\n`;
  return shell(
    'Sign in',
    html`${alert}<form method="post" action="${basePath}/login">
<input type="hidden" name="next" value="${next}">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" \
autocapitalize="off" spellcheck="false">
<button class="yes">Sign in</button>
</form>`,
  );
}
