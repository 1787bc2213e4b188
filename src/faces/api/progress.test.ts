import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress, STALLED_LOOKS } from './progress.ts';

test('T54: A reader is stalled when bytes wait and none is read for six checks, however few they are', () => {
  const socket = { bytesWritten: 100, writableLength: 0 };
  const progress = new Progress(socket);
  const looks = (count: number): boolean[] => Array.from({ length: count }, () => progress.look());
  assert.ok(looks(20).every(Boolean), 'nothing waits');
  socket.bytesWritten += 14;
  socket.writableLength += 14;
  assert.ok(looks(STALLED_LOOKS - 1).every(Boolean));
  socket.writableLength -= 1;
  assert.ok(looks(STALLED_LOOKS).every(Boolean), 'one byte was taken');
  socket.bytesWritten += 14;
  socket.writableLength += 14;
  assert.deepEqual(looks(1), [false], 'what is added is no progress');
});
