import { bootId as realId } from '../../../src/lib/boot-id.ts';
import { running } from '../world/current.ts';

export function bootId(): string {
  const who = running();
  return who === null ? realId() : `boot-of-${who.host.machine.name}`;
}
