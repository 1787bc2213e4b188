import { Failure } from '../../../domain/failure.ts';
import type { Settings } from '../../../config/settings/settings.ts';
import type { Answer } from '../../../operations/core/invoke.ts';
import type { Operation } from '../../../operations/core/operation.ts';
import type { StreamEvent } from '../../../operations/core/reply.ts';
import type { Fields } from '../syntax/arguments.ts';
import type { Called, CallOptions, Client, Liveness, SentEvent } from './client.ts';
import { checkPathFields } from './remote-request.ts';
import type { App, LocalRuntime } from '../terminal.ts';
import type { OperationCall } from '../syntax/tree.ts';

/** Calls operations in this process, on the data directory or the database of `settings`. */
export class LocalClient implements Client {
  readonly settings: Settings;
  readonly #app: () => Promise<App>;
  #opened: Promise<LocalRuntime> | undefined;

  constructor(settings: Settings, app: () => Promise<App>) {
    this.settings = settings;
    this.#app = app;
  }

  async call(call: OperationCall, fields: Fields, options?: CallOptions): Promise<Called> {
    const answer = await this.#invoke(call, fields, options);
    if (answer.shape === 'stream') throw new Error(`${call.operation} answers a stream: it is followed, not called`);
    if (answer.shape === 'none') return { shape: 'none' };
    return { shape: 'body', chunks: answer.shape === 'batches' ? answer.body : once(answer.body) };
  }

  async *follow(call: OperationCall, fields: Fields, signal: AbortSignal): AsyncGenerator<SentEvent> {
    const answer = await this.#invoke(call, fields);
    if (answer.shape !== 'stream') throw new Error(`${call.operation} answers no stream`);
    for await (const event of answer.events(signal)) yield sent(event);
  }

  async liveness(): Promise<Liveness> {
    const { runtime } = await this.#open(await this.#app(), false);
    return (await import('../../../operations/maintenance/liveness.ts')).livenessOf(runtime);
  }

  async close(): Promise<void> {
    if (this.#opened === undefined) return;
    const local = await this.#opened.catch(() => undefined);
    await local?.close();
  }

  async #invoke(call: OperationCall, fields: Fields, options: CallOptions = {}): Promise<Answer> {
    const [{ loadOperation }, { parseInput }] = await Promise.all([
      import('../../../operations/areas.ts'),
      import('../../../operations/core/parse.ts'),
    ]);
    const operation = await loadOperation(call.operation);
    checkPathFields(call, fields);
    // Parsed here too, so that a refused input does not create a data directory.
    parseInput(operation.input, fields);
    try {
      return await this.#run(operation, fields, options);
    } catch (error) {
      if (error instanceof Failure) throw error;
      // On this face the operator is at the machine and may see what is wrong with the data directory.
      throw new Failure('internal', error instanceof Error ? error.message : 'An unexpected error occurred.');
    }
  }

  /** Reading makes nothing. */
  #open(app: App, mayMake: boolean): Promise<LocalRuntime> {
    return (this.#opened ??= app.openLocal(this.settings, mayMake));
  }

  async #run(operation: Operation, raw: Fields, { idempotencyKey, signal }: CallOptions): Promise<Answer> {
    const [app, { invoke, invokeWithoutStore }, { isWrite }] = await Promise.all([
      this.#app(),
      import('../../../operations/core/invoke.ts'),
      import('../../../operations/core/operation.ts'),
    ]);
    let local: LocalRuntime;
    try {
      local = await this.#open(app, isWrite(operation));
    } catch (error) {
      // A verb that looks before it writes may open again.
      this.#opened = undefined;
      const { runtime, caller } = await app.withoutStore(this.settings, error);
      return invokeWithoutStore(runtime, operation, { caller, raw });
    }
    const clientWait = signal === undefined ? undefined : { signal, gone: () => signal.aborted };
    return invoke(local.runtime, operation, { caller: local.caller, raw, idempotencyKey, clientWait });
  }
}

async function* once(text: string | Buffer): AsyncGenerator<string | Buffer> {
  yield await Promise.resolve(text);
}

/** As the stream of the HTTP face sends it. */
function sent({ event, id, data }: StreamEvent): SentEvent {
  return { event, ...(id === undefined ? {} : { id }), data: JSON.stringify(data) };
}
