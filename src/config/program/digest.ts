import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { ProgramFiles } from '../../domain/program.ts';
import { PROGRAM_ROOT, programEntry } from '../../lib/files/program-files.ts';

export type DigestAnswer = { readonly digest: string } | { readonly why: string };

/** The program of this process. */
export function runningProgram(): ProgramFiles {
  const uid = process.geteuid?.() ?? 0;
  return { root: PROGRAM_ROOT, main: programEntry('main'), executable: process.execPath, uid };
}

/**
 * The SHA-256 of the files of a program as they are now, in hexadecimal. Throws `conflict` for a program that must not
 * be started.
 */
export async function digestOf(program: ProgramFiles, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const thread = new Worker(programEntry('config/program/program-digest-thread'), { workerData: program });
  const end = (): void => void thread.terminate();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const [answer] = (await once(thread, 'message', { signal })) as [DigestAnswer];
    if ('why' in answer) throw new Failure('conflict', `The program on disk cannot be used: ${answer.why}.`);
    return answer.digest;
  } finally {
    signal?.removeEventListener('abort', end);
    end();
  }
}
