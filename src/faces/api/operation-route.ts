import type { Caller } from '../../domain/access/caller.ts';
import { Failure } from '../../domain/failure.ts';
import type { KeptValues } from '../../lib/caches/kept-values.ts';
import type { Authenticator } from '../../operations/access/authenticate.ts';
import type { Answer, Runtime } from '../../operations/core/invoke.ts';
import { authorize } from '../../operations/core/rights/authorize.ts';
import type { HttpFace } from '../../operations/core/http-face.ts';
import type { Operation } from '../../operations/core/operation.ts';
import { hasBody, readJson } from '../http/body.ts';
import { credentialsOf, headerValues, queryOf } from '../http/credentials.ts';
import { dataHeaders, JSON_HEADERS, STREAM_HEADERS } from '../http/headers.ts';
import { gatherBody, gatherText, type InputPlaces, inputPlaces, sequenceNumber } from './input.ts';
import { answerOf, isNamed, type KeptAnswer } from './kept.ts';
import type { HttpLimits } from '../http/limits.ts';
import { sendParts } from '../http/parts.ts';
import type { Exchange, Sender } from '../http/sender.ts';
import { admit } from '../http/visit.ts';
import type { Streams } from './stream.ts';
import type { Waits } from './waits.ts';

interface RouteParts {
  readonly runtime: Runtime;
  readonly authenticator: Authenticator;
  readonly limits: HttpLimits;
  readonly sender: Sender;
  readonly streams: Streams;
  readonly kept: KeptValues<KeptAnswer>;
  readonly waits: Waits;
}

type Params = Readonly<Record<string, string | undefined>>;

/** The operation that a request calls. */
interface Route extends RouteParts {
  readonly operation: Operation;
  readonly http: HttpFace;
  readonly places: InputPlaces;
  readonly keep: boolean;
}

/** Serves one operation: checks for 401, then 403, then the rest. The result never rejects. */
export function operationRoute(
  operation: Operation,
  http: HttpFace,
  parts: RouteParts,
): (exchange: Exchange, params: Params) => Promise<void> {
  const route: Route = {
    ...parts,
    operation,
    http,
    places: inputPlaces(operation, http),
    keep: 'keep' in operation && operation.keep,
  };
  return async (exchange, params) => {
    try {
      const caller = await admit(parts.authenticator, exchange, credentialsOf(exchange.request), 'api');
      authorize(operation, caller);
      refuseSessionWrite(http, caller);
      if (route.keep) await serveKept(route, exchange, params, caller);
      else await sendAnswer(route, exchange, caller, await ask(route, exchange, params, caller));
    } catch (error) {
      parts.sender.sendFailure(exchange, error);
    }
  };
}

/** The contract: a write below /api/v1 needs a bearer token. This also prevents cross-site request forgery. */
function refuseSessionWrite(http: HttpFace, caller: Caller): void {
  if (http.method === 'GET' || caller.credential !== 'session') return;
  throw new Failure('forbidden', 'A write needs a bearer token: a browser session is not enough.');
}

async function serveKept(route: Route, exchange: Exchange, params: Params, caller: Caller): Promise<void> {
  const { kept, runtime, sender } = route;
  const { request } = exchange;
  // The URL identifies operation and input: two spellings of one input are two entries with the same bytes.
  const key = `${caller.scope} ${request.url ?? ''}`;
  const version = runtime.store.version();
  const known = kept.find(version, key);
  if (known !== undefined) {
    sendKept(sender, exchange, known);
    return;
  }
  const answer = await ask(route, exchange, params, caller);
  if (answer.shape !== 'body') {
    await sendAnswer(route, exchange, caller, answer);
    return;
  }
  const made = answerOf(answer.body);
  kept.keep(version, key, made);
  sendKept(sender, exchange, made);
}

function sendKept(sender: Sender, exchange: Exchange, kept: KeptAnswer): void {
  if (isNamed(kept.etag, exchange.request.headers['if-none-match'])) sender.send(exchange, 304, kept.headers, '');
  else sender.send(exchange, 200, kept.headers, kept.body);
}

/** Collects the input from its places and invokes the operation. */
async function ask(
  { operation, http, places, runtime, limits, waits }: Route,
  exchange: Exchange,
  params: Params,
  caller: Caller,
): Promise<Answer> {
  const { request } = exchange;
  if (http.method === 'GET' && hasBody(request))
    throw new Failure('invalid_argument', 'The body: a GET must not have one.');
  const raw = gatherText(places, params, queryOf(request));
  if (operation.effect === 'stream') resumeAfter(raw, places, headerValues(request, 'last-event-id'));
  if (http.method !== 'GET') gatherBody(places, raw, await readJson(request, limits.bodyBytes));
  const keys = headerValues(request, 'idempotency-key');
  if (keys.length > 1) throw new Failure('invalid_argument', 'Idempotency-Key: the header is sent more than once.');
  const invocation = { caller, raw, idempotencyKey: keys[0] };
  return waits.call(exchange, runtime, operation, invocation);
}

/** A client that reconnects names the last event that it saw; it is newer than the `since` of the first request. */
function resumeAfter(raw: Record<string, unknown>, places: InputPlaces, ids: readonly string[]): void {
  const id = ids.at(-1) ?? '';
  if (id !== '' && places.query.has('since')) raw['since'] = sequenceNumber(id);
}

async function sendAnswer(route: Route, exchange: Exchange, caller: Caller, answer: Answer): Promise<void> {
  const { sender } = route;
  switch (answer.shape) {
    case 'body':
      sender.send(exchange, answer.status, JSON_HEADERS, answer.body);
      return;
    case 'text':
      sender.send(exchange, answer.status, dataHeaders(answer.contentType), answer.body);
      return;
    case 'none':
      sender.send(exchange, answer.status, dataHeaders(), '');
      return;
    case 'batches':
      await sendParts(route, exchange, answer.status, JSON_HEADERS, answer.body);
      return;
    case 'stream':
      await sendStream(route, exchange, caller, answer);
  }
}

async function sendStream(
  route: Route,
  exchange: Exchange,
  caller: Caller,
  answer: Extract<Answer, { shape: 'stream' }>,
): Promise<void> {
  const { streams, sender, operation } = route;
  if (exchange.request.method === 'HEAD') {
    sender.begin(exchange, answer.status, STREAM_HEADERS);
    exchange.response.end();
    return;
  }
  const release = streams.admit(operation, caller);
  try {
    await streams.serve(exchange, caller, answer.events);
  } finally {
    release();
  }
}
