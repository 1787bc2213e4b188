/** The page of devices: subscribes this browser to notifications. No other page needs it, so it is another script. */
import type { TrustedWindow } from '../trusted.ts';

/** What a browser that has no push service, or is not permitted to use it, throws. */
const WORDS: Readonly<Record<string, string>> = {
  NotAllowedError: 'This browser does not permit notifications of this site. Permit them in its settings.',
  AbortError: 'This browser reached no push service. Use ntfy in its place.',
};

/** The URL of the service worker is taken as the page names it. A page can make a policy of a name once. */
const policy = (window as TrustedWindow).trustedTypes?.createPolicy('svc-worker', { createScriptURL: (text) => text });

const form = document.querySelector<HTMLFormElement>('#push');
if (form !== null) listen(form);

function listen(panel: HTMLFormElement): void {
  panel.addEventListener('submit', (event) => {
    event.preventDefault();
    const work = panel.dataset['subscription'] === undefined ? subscribe(panel) : register(panel);
    void work.catch((error: unknown) => say(panel, wordsFor(error)));
  });
}

/** Shows the command that registers this browser, and the field for who wants to do it here. */
async function subscribe(panel: HTMLFormElement): Promise<void> {
  if (!('serviceWorker' in navigator) || !('PushManager' in window))
    return say(panel, 'This browser has no notifications here: they need https, and on iOS a site on the home screen.');
  const { worker = '', scope = '', key = '' } = panel.dataset;
  const registration = await navigator.serviceWorker.register(policy?.createScriptURL(worker) ?? worker, { scope });
  await navigator.serviceWorker.ready;
  // One of another key of the service would get nothing.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint = '', keys = {} } = subscription.toJSON();
  panel.dataset['subscription'] = JSON.stringify({ endpoint, keys: { p256dh: keys['p256dh'], auth: keys['auth'] } });
  field(panel, 'command').value =
    `svc notify endpoint add '${endpoint}' --key p256dh=${keys['p256dh']} --key auth=${keys['auth']}`;
  for (const part of panel.querySelectorAll<HTMLElement>('[data-part]'))
    part.hidden = part.dataset['part'] !== 'subscribed';
  say(panel, 'This browser is subscribed. Nothing is sent to it until it is registered.');
}

/** With the token of this one request: a session registers no device. */
async function register(panel: HTMLFormElement): Promise<void> {
  const { subscription = '{}', api = '' } = panel.dataset;
  const token = field(panel, 'token');
  const bearer = token.value.trim();
  if (bearer === '') return say(panel, 'Enter a token.');
  token.value = '';
  const response = await fetch(api, {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
    body: JSON.stringify({ ...(JSON.parse(subscription) as object), label: field(panel, 'label').value || 'browser' }),
  });
  const answer = (await response.json()) as { data?: { id: string }; error?: { message: string } };
  say(panel, answer.data === undefined ? (answer.error?.message ?? 'It failed.') : `Registered as ${answer.data.id}.`);
}

function field(panel: HTMLFormElement, part: string): HTMLInputElement {
  const found = panel.querySelector<HTMLInputElement>(`[data-field=${part}]`);
  if (found === null) throw new Error(`the form has no field ${part}`);
  return found;
}

function say(panel: HTMLFormElement, text: string): void {
  const line = panel.querySelector('[role=status]');
  if (line !== null) line.textContent = text;
}

function wordsFor(error: unknown): string {
  if (error instanceof DOMException && WORDS[error.name] !== undefined) return WORDS[error.name] ?? '';
  return error instanceof Error ? error.message : String(error);
}
