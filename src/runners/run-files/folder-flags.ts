import { constants } from 'node:fs';

/** Only the place in the tree: works on a folder that is closed to its owner. Linux has this flag, Node has no name for it. */
const O_PATH = 0o10000000;

/** To hold a folder that the service alone can replace. */
export const OWN_FOLDER_FLAGS = O_PATH | constants.O_DIRECTORY;
/** To hold a folder of a run: a link is refused. */
export const FOLDER_FLAGS = OWN_FOLDER_FLAGS | constants.O_NOFOLLOW;
