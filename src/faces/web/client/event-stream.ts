/** Server-sent events, as the service sends them: each has one line of data, and an id if it can be resumed after. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Characters of an event that is not complete; one of the service has far fewer. */
const PENDING_MAX = 16_777_216;

/** Puts events together from the parts in which they arrive. */
export class EventReader {
  #pending = '';

  /** The events that end in this part. Throws RangeError where one does not end. */
  read(part: string): ServerEvent[] {
    const blocks = (this.#pending + part).split('\n\n');
    this.#pending = blocks.pop() ?? '';
    if (this.#pending.length > PENDING_MAX) throw new RangeError('An event of the stream does not end.');
    return blocks.flatMap((block) => {
      const fields = new Map(block.split('\n').map(fieldOf));
      const [name, data] = [fields.get('event'), fields.get('data')];
      // A comment keeps the connection, and says nothing.
      return name === undefined || data === undefined ? [] : [{ name, data }];
    });
  }
}

function fieldOf(line: string): readonly [name: string, value: string] {
  const at = line.indexOf(': ');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 2)];
}
