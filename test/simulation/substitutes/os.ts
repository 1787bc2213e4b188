import { hostname as realName } from 'node:os';
import { running } from '../world/current.ts';

export { default } from 'node:os';
export * from 'node:os';

export function hostname(): string {
  return running()?.host.machine.name ?? realName();
}
