/** The place, in the body of a request, of a number that no other request of this process has. */
export const FRESH = '0123456789abcdef';

let last = 0;

/**
 * Makes the requests of a load from one of them: each is a copy with another number in each place of FRESH. That costs
 * a sender less than making the body again, so that it does not slow down what it sends to.
 */
export function freshRequests(request: Buffer): () => Buffer {
  const places: number[] = [];
  for (let at = request.indexOf(FRESH); at >= 0; at = request.indexOf(FRESH, at + FRESH.length)) places.push(at);
  if (places.length === 0) return () => request;
  return () => {
    const copy = Buffer.from(request);
    for (const at of places) {
      last += 1;
      copy.write(last.toString(16).padStart(FRESH.length, '0'), at, 'latin1');
    }
    return copy;
  };
}
