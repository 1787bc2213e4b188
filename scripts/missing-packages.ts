/** Prints the Debian packages of the programs that tests need and that this machine does not have, one a line. */
import { missingPackages } from '../test/support/tools.ts';

for (const name of new Set(missingPackages())) console.log(name);
