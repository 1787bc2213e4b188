import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Recorder } from './recorder.ts';

/** Records what was held back of a standard output, to its end. The recorder redacts and pauses it as any other. */
export async function release(recorder: Recorder, output: AsyncIterable<Buffer>): Promise<void> {
  const stream = Readable.from(output, { objectMode: false });
  recorder.attach(stream, 'stdout');
  await finished(stream);
}
