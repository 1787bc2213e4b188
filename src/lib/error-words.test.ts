import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOfCode } from './error-words.ts';

test('A code of the system or of PostgreSQL is said in words, and an unknown one as it is', () => {
  assert.deepEqual(['ECONNREFUSED', 'ENOTFOUND', '3D000', 'XX000'].map(wordsOfCode), [
    'connection refused (ECONNREFUSED)',
    'the name of the server cannot be resolved (ENOTFOUND)',
    'the database does not exist (3D000)',
    'error XX000',
  ]);
});
