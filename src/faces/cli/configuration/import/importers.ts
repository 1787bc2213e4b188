import { importAwx } from './awx.ts';
import { importCrontab } from './crontab.ts';
import { importGatus } from './gatus.ts';
import type { Imported } from './imported.ts';
import { importSemaphore } from './semaphore.ts';
import { importUptimeKuma } from './uptime-kuma.ts';

/** Reads an export of another program at a time; no input makes it throw anything but invalid_argument. */
export const IMPORTERS: Readonly<Record<string, (text: string, nowMs: number) => Promise<Imported>>> = {
  'uptime-kuma': importUptimeKuma,
  gatus: importGatus,
  semaphore: importSemaphore,
  awx: importAwx,
  crontab: importCrontab,
};
