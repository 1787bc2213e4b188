/** A separate program for a test that limits its open files. Prints where it listens, and ends with its input. */
import { startProgram } from '../program.ts';

const program = await startProgram(null);
console.log(JSON.stringify({ port: program.port, token: program.tokens.readonly }));
process.stdin.resume();
process.stdin.on('end', () => void program.close().then(() => process.exit(0)));
