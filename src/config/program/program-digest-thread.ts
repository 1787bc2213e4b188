import { parentPort, workerData } from 'node:worker_threads';
import type { ProgramFiles } from '../../domain/program.ts';
import type { DigestAnswer } from './digest.ts';
import { programDigest, UnusableProgram } from './program-digest.ts';

/** Reads the files of a program off the event loop of the daemon. */
function answer(): DigestAnswer {
  try {
    return { digest: programDigest(workerData as ProgramFiles) };
  } catch (error) {
    if (!(error instanceof UnusableProgram)) throw error;
    return { why: error.message };
  }
}

parentPort?.postMessage(answer());
