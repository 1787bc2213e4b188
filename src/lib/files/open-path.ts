/**
 * Opens only the place of an entry in the tree, without a right to its content: works on what is closed to its own
 * owner, and closing it drops no lock that SQLite holds on the file. Linux has this flag, Node has no name for it.
 */
export const O_PATH = 0o10000000;
