/** Reads `text/event-stream` as browsers do (WHATWG HTML §9.2), from text that may be split anywhere. */

/** One event; the name is empty where the stream gives none. `id` and `retry` are not kept. */
export type StreamEvent = { readonly name: string; readonly data: string };

const LONGEST_CHARACTERS = 16 * 1024;

/** The reader of one connection. */
export class EventStreamReader {
  #rest = '';
  #afterReturn = false;
  #name = '';
  #data: string | undefined;

  /** The events that this text completes. Throws `RangeError` for a line or an event of more than 16 Ki characters. */
  read(text: string): StreamEvent[] {
    if (text === '') return [];
    // A return ends a line at once; if the next text begins with its newline, that is no second line.
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

  /** Unlike a browser, it does not drop an event without data: what it says by its name alone is still said. */
  #endEvent(): StreamEvent[] {
    const event = { name: this.#name, data: this.#data ?? '' };
    const isEmpty = event.name === '' && this.#data === undefined;
    this.#name = '';
    this.#data = undefined;
    return isEmpty ? [] : [event];
  }
}
