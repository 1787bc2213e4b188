/** The version of this build; `tidy` checks that package.json has the same. */
export const VERSION = '0.1.0';
