import { constants } from 'node:fs';
import { O_PATH } from '../../lib/files/open-path.ts';

/** To hold a folder that the service alone can replace. */
export const OWN_FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY;
/** To hold a folder of a run: a link is refused. */
export const FOLDER_FLAGS = OWN_FOLDER_FLAGS | constants.O_NOFOLLOW;
