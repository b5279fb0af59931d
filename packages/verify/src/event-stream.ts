/** Reads `text/event-stream` like browsers (WHATWG HTML §9.2), from text that may be split anywhere. */

/** One event; the name is empty if the stream gives none. `id` and `retry` are ignored. */
export type StreamEvent = { readonly name: string; readonly data: string };

const LONGEST_CHARACTERS = 16 * 1024;

/** Reads the events of one connection. */
export class EventStreamReader {
  #rest = '';
  #afterReturn = false;
  #name = '';
  #data: string | undefined;

  /**
   * Returns the events that this text completes. Throws `RangeError` for a line or an event of more than 16 Ki
   * characters.
   */
  read(text: string): StreamEvent[] {
    if (text === '') return [];
    // A return ends a line at once; a newline at the start of the next text then belongs to it.
    const fresh = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#afterReturn = text.endsWith('\r');
    const lines = (this.#rest + fresh).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    const events = lines.flatMap((line) => this.#readLine(line));
    if (this.#rest.length > LONGEST_CHARACTERS) throw new RangeError('a line is too long');
    return events;
  }

  #readLine(line: string): StreamEvent[] {
    if (line === '') return this.#endEvent();
    const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (line.length + (this.#data?.length ?? 0) > LONGEST_CHARACTERS) throw new RangeError('an event is too long');
    return [];
  }

  /** Unlike a browser, keeps an event without data: its name alone has a meaning. */
  #endEvent(): StreamEvent[] {
    const event = { name: this.#name, data: this.#data ?? '' };
    const isEmpty = event.name === '' && this.#data === undefined;
    this.#name = '';
    this.#data = undefined;
    return isEmpty ? [] : [event];
  }
}
