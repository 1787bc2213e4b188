import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { copyAndCheck, type CopyOrder } from './copy-and-check.ts';

const isStopped = (): boolean => parentPort !== null && receiveMessageOnPort(parentPort) !== undefined;

parentPort?.postMessage(await copyAndCheck(workerData as CopyOrder, isStopped));
parentPort?.close();
