/** A program of its own for a test that takes most files away from it: says where it listens, ends with its input. */
import { startProgram } from '../program.ts';

const program = await startProgram(null);
console.log(JSON.stringify({ port: program.port, token: program.tokens.readonly }));
process.stdin.resume();
process.stdin.on('end', () => void program.close().then(() => process.exit(0)));
