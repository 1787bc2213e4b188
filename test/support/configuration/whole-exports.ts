import { WHOLE_AWX } from './whole/awx.ts';
import { WHOLE_GATUS } from './whole/gatus.ts';
import { WHOLE_SEMAPHORE } from './whole/semaphore.ts';
import { WHOLE_UPTIME_KUMA } from './whole/uptime-kuma.ts';

/**
 * Exports of other programs in which each field that the program's own types have is there, with a value that does not
 * make its object be left out.
 */
export const WHOLE_EXPORTS: Readonly<Record<string, object>> = {
  awx: WHOLE_AWX,
  gatus: WHOLE_GATUS,
  'uptime-kuma': WHOLE_UPTIME_KUMA,
  semaphore: WHOLE_SEMAPHORE,
};
