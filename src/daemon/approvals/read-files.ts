import { type FilesReader, readUnread } from '../../operations/approvals/pinned-files.ts';
import type { MakeLoop } from '../core/loop.ts';

interface ReadFilesDeps extends FilesReader {
  readonly node: () => string;
}

/** The interval of passes, in milliseconds: a directory may come to this machine later. */
const READ_FILES_EVERY_MS = 30_000;

/** Reads the files of requests that a rule, a schedule or a workflow has made, or another process. */
export const readFilesLoop: MakeLoop<ReadFilesDeps> = (deps) => ({
  name: 'read-files',
  everyMs: READ_FILES_EVERY_MS,
  wakeOn: ['after-request'],
  once: (signal) => readUnread(deps, signal),
});
