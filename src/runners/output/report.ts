import type { Readable } from 'node:stream';
import type { ReportOrder } from '../runner.ts';
import { LineSplitter } from './lines.ts';

const NEWLINE = 10;

/**
 * Reads a report to its end; leaves out lines over LINE_LIMIT_BYTES. `onOver` is called once it is longer than allowed.
 */
export function readReport(stream: Readable, { bytesMax, onLine }: ReportOrder, onOver: () => void): void {
  let bytes = 0;
  // The rest of a line that was too long would else be taken as a line.
  let inLongLine = false;
  const splitter = new LineSplitter((data, ended) => {
    let start = inLongLine && ended ? data.indexOf(NEWLINE) + 1 : 0;
    inLongLine = !ended;
    if (!ended) return;
    for (let end = data.indexOf(NEWLINE, start); end >= 0; end = data.indexOf(NEWLINE, start)) {
      onLine(data.toString('utf8', start, end));
      start = end + 1;
    }
  });
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) return splitter.push(chunk);
    stream.destroy();
    onOver();
  });
  stream.on('error', () => {});
}
