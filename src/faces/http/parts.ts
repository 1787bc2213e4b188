import type { Runtime } from '../../operations/core/invoke.ts';
import type { HeaderList } from './headers.ts';
import type { HttpLimits } from './limits.ts';
import { PatientWriter } from './patient-writer.ts';
import type { Exchange, Sender } from './sender.ts';

interface PartsSender {
  readonly sender: Sender;
  readonly runtime: Runtime;
  readonly limits: HttpLimits;
}

/**
 * An answer without a bound, sent while it is read. The first part is read before the status is sent, so that its
 * failure has one.
 */
export async function sendParts(
  { sender, runtime, limits }: PartsSender,
  exchange: Exchange,
  status: number,
  headers: HeaderList,
  parts: AsyncIterable<string>,
): Promise<void> {
  const { request, response, visit } = exchange;
  const iterator = parts[Symbol.asyncIterator]();
  let next = await iterator.next();
  sender.begin(exchange, status, headers);
  // Each part takes its turn instead.
  visit.detach();
  const writer = new PatientWriter(response, runtime.services.clock, limits);
  const hold = sender.holding(exchange);
  try {
    while (next.done !== true && request.method !== 'HEAD') {
      hold(next.value.length + response.writableLength);
      if (!(await writer.write(next.value))) break;
      next = await iterator.next();
    }
    writer.end();
  } catch (error) {
    // Half an answer must not look like a whole one: without its end the client detects the cut.
    sender.report(exchange, error);
    response.destroy();
  } finally {
    await iterator.return?.();
  }
}
