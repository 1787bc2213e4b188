import type { Answer, Invocation, Runtime } from '../../operations/core/invoke.ts';
import type { Operation } from '../../operations/core/operation.ts';
import type { Exchange } from './sender.ts';

/** How every face of a listener calls an operation. */
export interface Calls {
  /** One whose answer may wait ends when the client has gone, the listener closes or the credential ends. */
  call(exchange: Exchange, runtime: Runtime, operation: Operation, invocation: Invocation): Promise<Answer>;
}
