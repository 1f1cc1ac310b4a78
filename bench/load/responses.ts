const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Cuts the bytes of one connection into HTTP/1.1 responses; their bodies have a `Content-Length`, or there is none. */
export class ResponseReader {
  readonly #onResponse: (status: number) => void;
  #head = "";
  #status = 0;
  /** Bytes of the body that are yet to come. */
  #missing = 0;

  /** `onResponse` hears of each response once it is whole. */
  constructor(onResponse: (status: number) => void) {
    this.#onResponse = onResponse;
  }

  /** Takes the next bytes, however they are cut. */
  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#status === 0) rest = this.#readHead(rest);
      const taken = Math.min(this.#missing, rest.length);
      this.#missing -= taken;
      rest = rest.subarray(taken);
      if (this.#status !== 0 && this.#missing === 0) {
        const status = this.#status;
        this.#status = 0;
        this.#onResponse(status);
      }
    }
  }

  /** Returns what follows the head, if it ends here. */
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
    this.#missing = Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0);
    return bytes.subarray(end + HEAD_END.length - before);
  }
}
