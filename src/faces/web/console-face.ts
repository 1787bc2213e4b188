import { hash } from 'node:crypto';
import type { Caller } from '../../domain/access/caller.ts';
import { asFailure, Failure, failureRow } from '../../domain/failure.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import type { Calls } from '../http/calls.ts';
import { queryOf } from '../http/credentials.ts';
import { assetHeaders, checkedHeaders, CONSOLE_HEADERS, textHeaders } from '../http/headers.ts';
import type { HttpLimits } from '../http/limits.ts';
import { sendParts } from '../http/parts.ts';
import type { Exchange, Sender } from '../http/sender.ts';
import { html, type Html } from '../html/html.ts';
import { textOf } from '../areas/texts.ts';
import { type Action } from '../console/action.ts';
import type { Page, PageRequest, Shown } from '../console/page.ts';
import { PAGES } from './pages/table.ts';
import { type Pages, readForm } from './routes.ts';
import { refuseForeign, refuseWrongCsrf } from './same-origin.ts';
import { ask, mayCall, operationOf } from '../console/asker.ts';
import type { Asset } from '../console/assets.ts';
import { blocksHtml } from '../console/blocks.ts';
import { elsewhere, placesOf } from '../console/elsewhere.ts';
import { framed } from '../console/frame.ts';
import { logTexts } from '../areas/jobs/log/log-text.ts';
import { PENDING, type Pending, pendingText } from '../console/pending.ts';
import { preferencesOf } from '../console/preferences.ts';
import { pageRequest } from '../console/request.ts';

type Params = Readonly<Record<string, string | undefined>>;

interface ConsoleParts {
  readonly runtime: Runtime;
  readonly authenticator: Authenticator;
  readonly sender: Sender;
  readonly basePath: string;
  readonly pages: Pick<Pages, 'visitor'>;
  readonly waits: Calls;
  readonly limits: HttpLimits;
}

/** What is above the content: the result of an action, or why it was refused. */
interface Notice {
  readonly status: number;
  readonly alert: Html;
}

interface Visit {
  readonly page: Page;
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
}

/** A form of a page holds a reason of 1,000 characters, and little else. */
const FORM_MAX_BYTES = 16_384;
const NO_NOTICE: Notice = { status: 200, alert: html`` };
const NOWHERE: Page = {
  path: '/',
  section: 'Overview',
  title: 'Not found',
  reads: ['whoami'],
  show: () => Promise.reject(new Failure('not_found', 'There is no such page.')),
};

/** The pages for people who are signed in. Its promises never reject. */
export class Console {
  readonly #parts: ConsoleParts;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  async show(page: Page, exchange: Exchange, params: Params): Promise<void> {
    const caller = await this.#parts.pages.visitor(exchange);
    if (caller !== null) await this.#answer({ page, exchange, caller, params: textsOf(params) }, NO_NOTICE);
  }

  async missing(exchange: Exchange): Promise<void> {
    const caller = await this.#parts.pages.visitor(exchange);
    if (caller === null) return;
    if (caller.credential === 'session') await this.#answer({ page: NOWHERE, exchange, caller, params: {} }, NO_NOTICE);
    else this.#parts.sender.sendFailure(exchange, new Failure('not_found', 'There is no such page.'));
  }

  /** The output of a job as text. */
  async output(exchange: Exchange, { id }: Params): Promise<void> {
    const { pages, sender, runtime } = this.#parts;
    const caller = await pages.visitor(exchange);
    if (caller === null) return;
    try {
      const asked = (part: object) => ask({ runtime, caller }, 'job.events', 'job.events', { id, ...part });
      await sendParts(this.#parts, exchange, 200, textHeaders(`${id ?? ''}.txt`), logTexts(asked));
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }

  async asset({ contentType, body, isFixed }: Asset, exchange: Exchange): Promise<void> {
    const caller = await this.#parts.pages.visitor(exchange);
    if (caller !== null)
      this.#parts.sender.send(
        exchange,
        200,
        isFixed === true ? checkedHeaders(contentType) : assetHeaders(contentType),
        body,
      );
  }

  /** Calls the operation, then sends the browser on; a refusal is shown on the page of the action. */
  async act(action: Action, exchange: Exchange, params: Params): Promise<void> {
    const { pages, sender, basePath } = this.#parts;
    const texts = textsOf(params);
    const caller = await pages.visitor(exchange, filled(action.page, texts));
    if (caller === null) return;
    const page = PAGES.find(({ path }) => path === action.page) ?? NOWHERE;
    try {
      const { location, notice } = await this.#carryOut(action, exchange, caller, texts);
      if (location === null) await this.#answer({ page, exchange, caller, params: texts }, notice);
      else sender.send(exchange, 303, [...CONSOLE_HEADERS, 'Location', basePath + location], '');
    } catch (error) {
      if (error instanceof Failure)
        await this.#answer(
          { page, exchange, caller, params: texts },
          { status: statusOf(error), alert: alertOf(error) },
        );
      else sender.sendFailure(exchange, error);
    }
  }

  async #carryOut(
    action: Action,
    exchange: Exchange,
    caller: Caller,
    params: Readonly<Record<string, string>>,
  ): Promise<{ location: string | null; notice: Notice }> {
    const { runtime, authenticator, basePath, waits } = this.#parts;
    refuseForeign(exchange.request);
    const form = await readForm(exchange.request, FORM_MAX_BYTES);
    refuseWrongCsrf(authenticator.csrfOf(caller), form.get('csrf'));
    const given = action.fields.flatMap((name) => {
      const text = form.get(name);
      // A browser sends the line ends of a text as two characters.
      return text === null || text === '' ? [] : [[name, text.replaceAll('\r\n', '\n')] as const];
    });
    const fields = Object.fromEntries(given);
    const [name = ''] = Object.values(params);
    if (action.confirms?.(fields) === true && form.get('confirm')?.trim() !== name)
      throw new Failure('invalid_argument', `confirm: type ${name} to confirm.`);
    const operation = operationOf(action.operation);
    const answer = await waits.call(exchange, runtime, operation, {
      caller,
      raw: { ...params, ...fields },
      idempotencyKey: keyOf(form, fields),
    });
    if (answer.shape !== 'body') throw new Error(`${action.operation} has no page for its answer`);
    if (action.goesTo !== undefined)
      return {
        location: action.goesTo(params, answer.data as Record<string, unknown>, answer.kind),
        notice: NO_NOTICE,
      };
    const display = { nowMs: runtime.services.clock.now(), color: false, width: null };
    const shown = blocksHtml(textOf(answer.kind, answer.data, display), { url: (path) => basePath + path });
    return { location: null, notice: { status: 200, alert: html`<section role="status">${shown}</section>` } };
  }

  /** The page with its frame; one that fails says why in the same frame. */
  async #answer(visit: Visit, notice: Notice): Promise<void> {
    const { page, exchange, caller, params } = visit;
    const { sender, runtime, authenticator, basePath } = this.#parts;
    try {
      const query = new URLSearchParams(queryOf(exchange.request));
      const csrf = authenticator.csrfOf(caller);
      const parts = {
        runtime,
        caller,
        csrf,
        basePath,
        params,
        query,
        asked: new Map<string, Promise<unknown>>(),
        textOf,
      };
      const request = pageRequest(page, parts);
      const frame = pageRequest({ path: '/', reads: ['approval.list', 'maintenance.readiness'] }, parts);
      const [{ shown, status }, pending, cordoned] = await Promise.all([
        shownBy(page, request, (error) => sender.report(exchange, error)),
        pendingOf(frame),
        cordonOf(frame),
      ]);
      const body = framed({
        pages: PAGES.filter(({ reads }) => mayCall(caller, reads[0])),
        page,
        title: shown.title,
        state: shown.state ?? html``,
        content: shown.content,
        log: shown.log ?? html``,
        alert: notice.alert,
        elsewhere: elsewhere(
          shown.elsewhere === undefined
            ? placesOf(page.reads[0], basePath, { ...fieldsOf(page, request), ...params })
            : [shown.elsewhere],
        ),
        visitor: request.visitor,
        host: runtime.services.server.hostname,
        pending,
        preferences: preferencesOf(exchange.request.headers.cookie),
        cordoned,
        nowMs: request.display.nowMs,
        isLive: notice === NO_NOTICE && shown.isStill !== true,
        url: request.url,
      });
      sender.send(exchange, notice.status === 200 ? status : notice.status, CONSOLE_HEADERS, body);
    } catch (error) {
      sender.sendFailure(exchange, error);
    }
  }
}

async function pendingOf({ may, ask }: PageRequest): Promise<Pending> {
  return may('approval.list') ? pendingText((await ask('approval.list', 'approval.list', PENDING)).length) : '';
}

/** Null in a process that has no queue and cannot tell. */
async function cordonOf({ ask }: PageRequest): Promise<boolean | null> {
  try {
    return (await ask('maintenance.readiness', 'maintenance.readiness')).cordoned;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Those that the page filters by; a query that it refused has none. */
function fieldsOf(page: Page, request: PageRequest): Record<string, unknown> {
  if (page.filters !== true) return {};
  try {
    return request.fields(page.reads[0]);
  } catch (error) {
    if (error instanceof Failure) return {};
    throw error;
  }
}

async function shownBy(
  page: Page,
  request: PageRequest,
  report: (error: unknown) => string,
): Promise<{ shown: Shown; status: number }> {
  try {
    const shown = await page.show(request);
    return { shown, status: shown.status ?? 200 };
  } catch (error) {
    const failure = asFailure(error);
    if (!(error instanceof Failure)) report(error);
    const overview = html`<p><a href="${request.url('/')}">Go to the overview</a></p>\n`;
    const shown = { title: page.title, content: html`${alertOf(failure)}${overview}` };
    return { shown, status: statusOf(failure) };
  }
}

function alertOf(failure: Failure): Html {
  return html`<div role="alert"><p>${failure.message}</p></div>\n`;
}

function statusOf({ code }: Failure): number {
  return failureRow(code).status;
}

/** The same form with other fields is another request: a page that was shown again has the key of the first. */
function keyOf(form: URLSearchParams, fields: Readonly<Record<string, string>>): string | undefined {
  const key = form.get('key');
  return key === null ? undefined : hash('sha256', JSON.stringify([key, fields]));
}

/** The parameters of a route, decoded by the router. */
function textsOf(params: Params): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:([a-z_]+)/g, (_all, name: string) => encodeURIComponent(params[name] ?? ''));
}
