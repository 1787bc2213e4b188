/** One dispatched event of a stream of server-sent events. */
export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Characters of one event at most. A line of output is 64 KiB, and JSON writes a byte as 6 characters at worst. */
const EVENT_LENGTH_MAX = 4 * 1024 * 1024;

/**
 * Reads server-sent events (WHATWG HTML 9.2) from text that arrives in any pieces: a line ends with CR, LF or both,
 * also in separate pieces. Comments and unknown fields are skipped. An event without data is skipped too.
 */
export class ServerEventParser {
  #rest = '';
  #started = false;
  /** The last piece ended with CR: a LF at the start of the next one belongs to it. */
  #afterReturn = false;
  #event = '';
  #id: string | undefined;
  #data: string[] = [];
  #length = 0;

  /** The events that are complete with this piece. Throws RangeError where one is too long to be ours. */
  push(piece: string): ServerEvent[] {
    let text = piece;
    if (!this.#started && text !== '') {
      this.#started = true;
      if (text.startsWith('\uFEFF')) text = text.slice(1);
    }
    if (this.#afterReturn && text !== '') {
      if (text.startsWith('\n')) text = text.slice(1);
      this.#afterReturn = false;
    }
    this.#afterReturn ||= text.endsWith('\r');
    const lines = (this.#rest + text).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length + this.#length > EVENT_LENGTH_MAX) throw new RangeError('an event of the stream is too long');
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line === '') this.#dispatch(events);
      else this.#field(line);
    }
    return events;
  }

  #dispatch(events: ServerEvent[]): void {
    if (this.#data.length > 0)
      events.push({ event: this.#event === '' ? 'message' : this.#event, id: this.#id, data: this.#data.join('\n') });
    this.#event = '';
    this.#id = undefined;
    this.#data = [];
    this.#length = 0;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    this.#length += line.length;
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
  }
}
