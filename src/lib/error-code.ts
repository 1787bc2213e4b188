/** The code of a system's or a driver's error, such as `ENOENT`, `28P01` or `ERR_SQLITE_ERROR`; null without one. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
