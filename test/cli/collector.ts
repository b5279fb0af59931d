/** Where the output of a command goes in a test. */
import { Writable } from 'node:stream';

/** A stream that keeps what is written to it. */
export class Collector extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
