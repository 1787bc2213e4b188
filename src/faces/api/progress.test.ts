import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../../test/support/clock.ts';
import { Progress, STALLED_LOOKS } from './progress.ts';
import { StreamPlaces } from './stream-places.ts';

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

test('T54: When no place is free, the oldest of the holder with most is taken over if old enough', () => {
  const clock = new HandClock(0);
  const places = new StreamPlaces(clock, { all: 3, perHolder: 3, keptMs: 30_000 });
  const ended: string[] = [];
  const take = (holder: string, name: string): boolean => {
    const place = places.take(holder);
    if (place !== null) place.end = () => void ended.push(name);
    return place !== null;
  };
  assert.ok(take('ana', 'ana 1'));
  clock.monotonicMs += 1;
  assert.ok(take('eve', 'eve 1'));
  clock.monotonicMs += 1;
  assert.ok(take('eve', 'eve 2'));
  clock.monotonicMs += 29_997;
  assert.equal(take('bo', 'bo 1'), false, 'no place is old enough');
  clock.monotonicMs += 10;
  assert.ok(take('bo', 'bo 1'));
  assert.deepEqual(ended, ['eve 1']);
  assert.ok(take('eve', 'eve 3'));
  assert.deepEqual(ended, ['eve 1', 'ana 1'], 'all have one by now: the oldest');
  assert.equal(places.used, 3);
});
