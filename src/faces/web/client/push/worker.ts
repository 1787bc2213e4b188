/**
 * The service worker of the console, which shows notifications while no page is open. Nothing is kept and no request of
 * a page passes it. It is served as one classic script.
 */

/** As workers have it; the types of pages lack it. */
interface PushWorker extends EventTarget {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: { type: 'window' }): Promise<readonly { url: string; focus(): Promise<unknown> }[]>;
    openWindow(url: string): Promise<unknown>;
  };
}

interface WaitingEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface PushedEvent extends WaitingEvent {
  readonly data: { json(): unknown } | null;
}

interface ClickedEvent extends WaitingEvent {
  readonly notification: Notification;
  /** The name of the pressed button; empty for the notification itself. */
  readonly action: string;
}

/** What the service sends; every member may be missing in a message that another program sent. */
interface Message {
  readonly id?: string;
  readonly title?: string;
  readonly message?: string;
  readonly priority?: number;
  readonly click?: string;
  readonly actions?: readonly { readonly label: string; readonly url: string }[];
}

/** Browsers show two buttons. */
const BUTTONS_MAX = 2;
/** From here on a notification stays until somebody has seen it. */
const HIGH_PRIORITY = 4;

const worker = self as unknown as PushWorker;

worker.addEventListener('push', (event) => {
  const pushed = event as PushedEvent;
  pushed.waitUntil(show(read(pushed.data)));
});

worker.addEventListener('notificationclick', (event) => {
  const { notification, action } = event as ClickedEvent;
  notification.close();
  const urls = notification.data as Readonly<Record<string, string>>;
  (event as ClickedEvent).waitUntil(open(urls[action] ?? ''));
});

function read(data: PushedEvent['data']): Message {
  try {
    return data?.json() ?? {};
  } catch {
    return {};
  }
}

/** A browser that shows nothing for a message would say so itself, and end the subscription in time. */
async function show({ id = '', title = 'Gatehouse', message = '', priority = 0, click = '', actions = [] }: Message) {
  const buttons = actions
    .slice(0, BUTTONS_MAX)
    .map(({ label, url }, index) => ({ action: `${index}`, title: label, url }));
  // A button opens its page, where a second press decides: a tap on a locked screen must not.
  const urls = { '': click, ...Object.fromEntries(buttons.map(({ action, url }) => [action, url])) };
  const options = {
    body: message,
    // A repeat replaces the first one.
    tag: id,
    data: urls,
    requireInteraction: priority >= HIGH_PRIORITY,
    actions: buttons.map(({ action, title: label }) => ({ action, title: label })),
  };
  await worker.registration.showNotification(title, options);
}

async function open(url: string): Promise<void> {
  if (!/^https?:\/\//.test(url)) return;
  const windows = await worker.clients.matchAll({ type: 'window' });
  const shown = windows.find((each) => each.url === url);
  await (shown === undefined ? worker.clients.openWindow(url) : shown.focus());
}
