import { Failure } from '../../../src/domain/failure.ts';
import type { Runtime } from '../../../src/operations/core/invoke.ts';
import { type Accepted, messageTaker, readMessage, webhookFinder } from '../../../src/operations/events/hooks-in.ts';
import { Repeats } from '../../../src/operations/events/repeats.ts';
import { MessageReader } from '../../../src/reaction/message/message-reader.ts';

/** Takes the body that was sent to the webhook of a token. Throws not_found for an unknown token. */
export type Hooks = (token: string, body: Buffer) => Promise<Accepted>;

/** What is behind the route of webhooks of one daemon. To be called as the daemon. */
export function openHooks(runtime: Runtime): Hooks {
  const { clock, reaction } = runtime.services;
  const reader = new MessageReader(clock, reaction.turns);
  const repeats = new Repeats(clock);
  const find = webhookFinder(runtime);
  const take = messageTaker(runtime, repeats);
  return async (token, bytes) => {
    const row = await find(token);
    if (row === undefined) throw new Failure('not_found', 'There is no such hook.');
    const hook = { row, signature: null };
    const message = { contentType: 'application/json', query: '', bytes, peer: '192.0.2.7' };
    return take(hook, await readMessage({ runtime, reader, repeats }, hook, message), message.peer);
  };
}
