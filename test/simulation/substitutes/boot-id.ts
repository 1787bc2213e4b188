import { bootId as realId } from '../../../src/lib/boot-id.ts';
import { running } from '../world/current.ts';
import { bootOf } from '../world/host.ts';

export function bootId(): string {
  const who = running();
  return who === null ? realId() : bootOf(who.host.machine);
}
