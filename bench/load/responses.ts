const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Incremental parser for the HTTP/1.1 responses of one connection. Bodies must have a `Content-Length`. */
export class ResponseReader {
  readonly #onResponse: (status: number) => void;
  #head = "";
  #status = 0;
  /** Bytes of the body that have not arrived yet. */
  #remaining = 0;

  /** Calls `onResponse` for each complete response. */
  constructor(onResponse: (status: number) => void) {
    this.#onResponse = onResponse;
  }

  /** Parses the next bytes of the connection. */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#status === 0) rest = this.#readHead(rest);
      const taken = Math.min(this.#remaining, rest.length);
      this.#remaining -= taken;
      rest = rest.subarray(taken);
      if (this.#status !== 0 && this.#remaining === 0) {
        const status = this.#status;
        this.#status = 0;
        this.#onResponse(status);
      }
    }
  }

  /** Parses head bytes and returns the bytes after the head, if it is complete. */
  #readHead(bytes: Buffer): Buffer {
    const before = this.#head.length;
    const text = this.#head + bytes.toString("latin1");
    const end = text.indexOf(HEAD_END);
    if (end < 0) {
      this.#head = text;
      return bytes.subarray(bytes.length);
    }
    this.#head = "";
    this.#status = Number(text.slice(9, 12));
    this.#remaining = Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0);
    return bytes.subarray(end + HEAD_END.length - before);
  }
}
