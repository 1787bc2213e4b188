import type { NotificationMessage } from '../domain/notify/row.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { DialFailed } from '../dial/dial-failed.ts';
import { connectAnywhere } from '../dial/guard.ts';
import { hostOfUrl } from '../lib/host-port.ts';
import { CONNECT_MS, Limit, TOTAL_MS } from '../dial/limits.ts';

/** From the connection to the server's greeting, in milliseconds. */
const GREETING_MS = 5_000;

interface Mail {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS where the server offers it. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  readonly from: string;
  readonly to: string;
}

/** Of `smtp://[user:password@]host[:port]?to=…[&from=…]`, already checked by `readTargetUrl`. */
export function mailOf(url: URL): Mail {
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const secure = url.protocol === 'smtps:';
  return {
    host: hostOfUrl(url),
    port: Number(url.port) || (secure ? 465 : user === '' ? 25 : 587),
    secure,
    auth: user === '' ? null : { user, pass },
    from: url.searchParams.get('from') ?? `gatehouse@${url.hostname}`,
    to: url.searchParams.get('to') ?? '',
  };
}

/** Sends a notification as a mail. A repeat has the same Message-ID. */
export function sendMail(
  mail: Mail,
  { clock }: { readonly clock: Clock },
): (message: NotificationMessage) => Promise<void> {
  return async (message) => {
    const { default: nodemailer } = await import('nodemailer');
    const { host, port, secure, auth, from, to } = mail;
    // The timeouts below end a silent server; the limit also ends one that sends a byte a second.
    const limit = new Limit(clock);
    const { signal } = limit;
    const transport = nodemailer.createTransport({
      host,
      port,
      secure,
      ...(auth === null ? {} : { auth, requireTLS: !secure }),
      getSocket: (_options, answer) => {
        limit.set(CONNECT_MS, 'no connection');
        connectAnywhere(host, port, signal)
          .then((connection) => answer(null, { connection }), answer)
          .finally(() => limit.unset());
      },
      greetingTimeout: GREETING_MS,
      socketTimeout: TOTAL_MS,
    });
    const headers = message.priority >= 4 ? { priority: 'high' as const } : {};
    try {
      await limit.during(
        transport.sendMail({
          from,
          to,
          subject: message.title,
          text: textOf(message),
          messageId: `<${message.id}@gatehouse>`,
          signal,
          ...headers,
        }),
      );
    } catch (error) {
      throw limit.reached ?? explained(error);
    } finally {
      limit.close();
      transport.close();
    }
  };
}

/** Links are plain text: mail programs make them clickable, and a GET of one decides nothing. */
function textOf({ message, click, actions }: NotificationMessage): string {
  const links = actions.map(({ label, url }) => `${label}: ${url}`);
  return [message, '', click, ...(links.length === 0 ? [] : ['', ...links]), ''].join('\n');
}

/** Codes of 500 and above are permanent refusals. */
function explained(error: unknown): DialFailed {
  if (error instanceof DialFailed) return error;
  const response =
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? error.responseCode
      : null;
  if (response !== null)
    return new DialFailed(`the mail server answered ${response}`, response >= 500 ? 'refused' : 'transient');
  return new DialFailed(`the mail could not be sent (${errorCode(error) ?? 'unknown error'})`);
}
