import type { OperationCall } from '../syntax/tree.ts';
import { type Answer, readData } from '../connection/client.ts';
import type { Session } from '../connection/session.ts';
import { render } from '../render.ts';
import type { Fields } from '../syntax/arguments.ts';
import { write } from '../terminal.ts';

/** Shows an answer on standard error, before the question about it, and resolves with it. */
export async function preview({ client, terminal }: Session, call: OperationCall, fields: Fields): Promise<Answer> {
  const answer = await readData(await client.call(call, fields));
  const display = { nowMs: terminal.clock.now(), color: false, width: null, place: '', noMatch: undefined };
  await write(terminal.stderr, render(answer.kind, answer.data, display));
  return answer;
}
