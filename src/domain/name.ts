/** The form of every name that a person gives: it is safe as a file name, in a URL and on a command line. */
export const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;
