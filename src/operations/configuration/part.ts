import { authorize } from '../core/rights/authorize.ts';
import { type Context, isWrite, type Operation, type WriteContext } from '../core/operation.ts';
import { parseInput } from '../core/parse.ts';
import { recordWrite, type Reply } from '../core/reply.ts';

/** Runs it in the transaction of another write, and records it in the ledger. */
export type Part = (context: WriteContext) => Promise<Reply>;

/** Prepares a write that is a part of another one: its scope, its input and what it prepares. Throws as it does. */
export async function preparePart(context: Context, operation: Operation, raw: unknown): Promise<Part> {
  if (!isWrite(operation)) throw new Error(`${operation.id} is no write`);
  authorize(operation, context.caller);
  const input = parseInput(operation.input, raw);
  const prepared = await operation.prepare?.(context, input);
  return async (write) => {
    const { reply, audit } = await operation.run(write, input, prepared);
    await recordWrite(write.tx, operation, write.caller, audit);
    return reply;
  };
}

/** Only the scope and the input, of a part that will not run. Throws as it does. */
export function checkPart({ caller }: Context, operation: Operation, raw: unknown): Promise<Part> {
  authorize(operation, caller);
  parseInput(operation.input, raw);
  return Promise.resolve(() => Promise.reject(new Error(`${operation.id} was not prepared`)));
}
