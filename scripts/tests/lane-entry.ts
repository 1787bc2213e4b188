/**
 * What the process of a lane runs: each of its files, whose paths the runner gives. Node drops an error at the top
 * level of a file that has a test already; here it is a failed test.
 */
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FILES_VARIABLE } from './lane-files.ts';

for (const file of JSON.parse(process.env[FILES_VARIABLE] ?? '[]') as string[]) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    test(`the load of ${file}`, () => {
      throw error;
    });
  }
}
