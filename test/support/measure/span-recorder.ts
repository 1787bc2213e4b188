/**
 * Loaded into a daemon under test before its first line (`node --import`): at SIGUSR2 writes the longest span of its
 * event loop since the last one, in milliseconds of processor time, to the file named in GATEHOUSE_SPAN_FILE.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { recordSpans } from './loop-spans.ts';

if (isMainThread) {
  const recorder = recordSpans();
  const file = process.env['GATEHOUSE_SPAN_FILE'] ?? '/dev/null';
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, String(recorder.take()));
    renameSync(`${file}.new`, file);
  });
}
