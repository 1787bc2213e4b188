import type { IncomingMessage } from 'node:http';
import { Failure } from '../../domain/failure.ts';
import {
  decideByLink,
  visitLink,
  type DecisionPage,
  type LinkVisit,
} from '../../operations/approvals/decision-page.ts';
import type { Runtime } from '../../operations/core/invoke.ts';
import { FORM_TYPE, hasBody, readBody } from '../http/body.ts';
import type { Exchange, FailureFormat, Sender } from '../http/sender.ts';
import { DECISION_HEADERS, decisionHtml, failureHtml, type PagePlace } from './decision-html.ts';

const PATH = /^\/approval\/([^/]+)\/([^/]+)$/;
/** A reason of 1,000 characters takes up to nine bytes each in a form, in some alphabets. */
const FORM_MAX_BYTES = 9_216;

const FAILURE_PAGE: FailureFormat = { headers: DECISION_HEADERS, body: ({ message }) => failureHtml(message) };

/** `/approval/{id}/{approve|reject}?token=…`: a GET shows the request, and only a POST decides. */
export class DecisionRoutes {
  readonly #runtime: Runtime;
  readonly #sender: Sender;
  readonly #consoleUrl: PagePlace['consoleUrl'];

  constructor(runtime: Runtime, sender: Sender, consoleUrl: PagePlace['consoleUrl']) {
    this.#runtime = runtime;
    this.#sender = sender;
    this.#consoleUrl = consoleUrl;
  }

  /** False if the request is for another route. Never rejects. */
  async serve(exchange: Exchange): Promise<boolean> {
    const { method = '' } = exchange.request;
    const visit = linkVisitOf(exchange.request);
    if (visit === null || !['GET', 'HEAD', 'POST'].includes(method)) return false;
    try {
      const isPost = method === 'POST';
      const page = isPost
        ? await decideByLink(this.#runtime, visit, await readFields(exchange.request))
        : await visitLink(this.#runtime, visit);
      const { hostname: host, timeZone } = this.#runtime.services.server;
      const body = decisionHtml(page, { host, timeZone, consoleUrl: this.#consoleUrl });
      this.#sender.send(exchange, statusOf(page, isPost), DECISION_HEADERS, body);
    } catch (error) {
      this.#sender.sendFailure(exchange, error, FAILURE_PAGE);
    }
    return true;
  }
}

/**
 * The parts of the URL, unchecked; null if its path is not that of a link. Other query parameters are
 * ignored: chat programs add some to links.
 */
export function linkVisitOf({ url = '' }: Pick<IncomingMessage, 'url'>): LinkVisit | null {
  const [path = '', ...query] = url.split('?');
  const [, approvalId, decision] = PATH.exec(path) ?? [];
  if (approvalId === undefined || decision === undefined) return null;
  const [token = '', ...others] = new URLSearchParams(query.join('?')).getAll('token');
  return { approvalId, decision, token: others.length === 0 ? token : '' };
}

function statusOf(page: DecisionPage, isPost: boolean): number {
  if (page.show === 'unknown') return 404;
  if (page.show === 'own' || page.show === 'lapsed') return 403;
  return isPost && !(page.show === 'outcome' && page.fresh) ? 409 : 200;
}

/** The fields of the form; empty without a body, as from a button in a notification. */
async function readFields(request: IncomingMessage): Promise<Record<string, string>> {
  if (!hasBody(request)) return {};
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!FORM_TYPE.test(type) || encoding !== 'identity') {
    throw new Failure('invalid_argument', 'The body: expected a form (application/x-www-form-urlencoded).');
  }
  return linkFormOf((await readBody(request, FORM_MAX_BYTES)).toString('utf8'));
}

/** Throws invalid_argument for a repeated field. */
export function linkFormOf(text: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name))
      throw new Failure('invalid_argument', `${name.slice(0, 80)}: this field was given more than once.`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
