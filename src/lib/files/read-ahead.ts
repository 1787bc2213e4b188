import { closeSync, fstatSync, openSync, read } from 'node:fs';

/** Bytes. The files of the program have less than 5 MB. */
const MOST = 32 * 1024 * 1024;
/** Bytes. */
const LARGE_PAGE = 2 * 1024 * 1024;
/** More than the C library takes for itself of a block. */
const BLOCK_HEAD = 4096;

/**
 * Begins to read a whole file on a thread of libuv, which also touches the memory for it first: 3 MB take 10 ms of a
 * start otherwise. Null where it cannot be read, or has more than 32 MiB. Never rejects.
 */
export function readAhead(file: string): Promise<Buffer | null> {
  let fd: number | null = null;
  try {
    fd = openSync(file, 'r');
    const { size } = fstatSync(fd);
    if (size <= MOST) return readWhole(fd, size);
  } catch {
    // As where it is too large.
  }
  if (fd !== null) closeSync(fd);
  return Promise.resolve(null);
}

function readWhole(fd: number, size: number): Promise<Buffer | null> {
  const buffer = inLargePages(size);
  return new Promise((resolve) => {
    read(fd, buffer, 0, size, 0, (error, bytes) => {
      closeSync(fd);
      resolve(error === null && bytes === size ? buffer : null);
    });
  });
}

/**
 * Linux (6.13) lets a block begin with a large page only if it has the size of whole ones. In small pages the kernel,
 * and a hypervisor once more, map each 4 KiB when they are first used.
 */
function inLargePages(size: number): Buffer {
  const whole = Math.ceil((size + BLOCK_HEAD) / LARGE_PAGE) * LARGE_PAGE;
  return Buffer.allocUnsafeSlow(whole - BLOCK_HEAD).subarray(0, size);
}
