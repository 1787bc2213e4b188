/** A program of Node that does nothing and stays: what the memory of any of them is at least. */
process.stdin.resume();
process.stdout.write('"ready"\n');
