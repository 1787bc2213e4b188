import { randomBytes as realBytes, pooledBytes as realPooled } from '../../../src/lib/random.ts';
import { running, theWorld } from '../world/current.ts';

export function randomBytes(length: number): Buffer {
  const who = running();
  return who === null ? realBytes(length) : theWorld().chance.of(`${who.host.name}/bytes`).bytes(length);
}

export function randomName(): string {
  return randomBytes(8).toString('hex');
}

export function pooledBytes(length: number): Buffer {
  return running() === null ? realPooled(length) : randomBytes(length);
}
