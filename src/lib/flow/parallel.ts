/**
 * Calls `work` for each item, `atATime` of them at once. Rejects with the first error, after which no other item is
 * begun and when no call is running any more.
 */
export async function inParallel<T>(
  items: readonly T[],
  atATime: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  // A loop that ends with an error closes the generator for the other loops too.
  const remaining = (function* (): Generator<T> {
    yield* items;
  })();
  const loop = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: atATime }, loop));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
