import { CREATED_ID, closes, EXISTING_ID, head, keepsOpen, PLANT, request, TOKEN } from "./exchange.ts";

const HOST = "Host: x";
const DELETE = "DELETE /plants/1 HTTP/1.1";
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;
/** A delete with one more header line. */
const deleteWith = (line: string): string => head(DELETE, HOST, AUTHORIZATION, line);

/** Malformed start lines and headers (RFC 9112, 2 to 5). Most requests would delete the plant. */
export const messages = [
  ...closes([400], {
    "an empty line before the request": `\r\n${head(DELETE, HOST, AUTHORIZATION)}`,
    "two empty lines before the request": `\r\n\r\n${head(DELETE, HOST, AUTHORIZATION)}`,
    "a line feed before the request": `\n${head(DELETE, HOST, AUTHORIZATION)}`,
    "a space before the request": ` ${head(DELETE, HOST, AUTHORIZATION)}`,
    "a NUL before the request": `\0${head(DELETE, HOST, AUTHORIZATION)}`,
    "a byte order mark before the request": `\xef\xbb\xbf${head(DELETE, HOST, AUTHORIZATION)}`,
    "two spaces after the method": head("DELETE  /plants/1 HTTP/1.1", HOST, AUTHORIZATION),
    "a space in the method": head("DEL ETE /plants/1 HTTP/1.1", HOST, AUTHORIZATION),
    "a method without target and version": head("DELETE", HOST, AUTHORIZATION),
    "no target": head("DELETE HTTP/1.1", HOST, AUTHORIZATION),
    "no method": head("/plants/1 HTTP/1.1", HOST, AUTHORIZATION),
    "only line ends": "\r\n\r\n",
    "only line feeds": "\n\n",
    "a space between a header name and the colon": deleteWith("X : y"),
    "a space before a header name": deleteWith(" X: y"),
    "a folded header": deleteWith("X: y\r\n z"),
    "a header folded with a tab": deleteWith("X: y\r\n\tz"),
    "a header without a colon": deleteWith("X y"),
    "a header line of spaces": deleteWith("   "),
    "a header without a name": deleteWith(": y"),
    "a header line of one colon": deleteWith(":"),
    "a header name with a space": deleteWith("X Y: z"),
    "a header name with a tab": deleteWith("X\tY: z"),
    "a header name with a parenthesis": deleteWith("(X): y"),
    "a header name with an at sign": deleteWith("X@: y"),
    "a header name with a quote": deleteWith('"X": y'),
    "a header name with a slash": deleteWith("X/Y: z"),
    "a header name with a comma": deleteWith("X,Y: z"),
    "a header name with a NUL": deleteWith("X\0: y"),
    "a header name with a control character": deleteWith("X\x01: y"),
    "a header name with DEL": deleteWith("X\x7f: y"),
    "a header name with a non-ASCII letter": deleteWith("X\xc3\xa9: y"),
    "a header value with a NUL": deleteWith("X: a\0b"),
    "a header value with a control character": deleteWith("X: a\x01b"),
    "a header value with an escape sequence": deleteWith("X: \x1b[2J"),
    "a header value with a carriage return": deleteWith("X: a\rb"),
    "a header value with a line feed": deleteWith("X: a\nb"),
    "a header value with a form feed": deleteWith("X: a\fb"),
    "a bare line feed after a header": `${DELETE}\r\n${HOST}\n${AUTHORIZATION}\r\n\r\n`,
    "a bare line feed as the last line end": `${DELETE}\r\n${HOST}\r\n${AUTHORIZATION}\r\n\n`,
    "a bare carriage return after a header": `${DELETE}\r\n${HOST}\r${AUTHORIZATION}\r\n\r\n`,
    "two carriage returns before a line feed": `${DELETE}\r\n${HOST}\r\r\n${AUTHORIZATION}\r\n\r\n`,
  }),

  // Bun treats a start line that does not end with " HTTP/1.0" or " HTTP/1.1" as an unsupported version.
  ...closes([505], {
    "only bare line feeds": `${DELETE}\n${HOST}\n${AUTHORIZATION}\n\n`,
    "only bare carriage returns": `${DELETE}\r${HOST}\r${AUTHORIZATION}\r\r`,
    "two spaces before the version": head("DELETE /plants/1  HTTP/1.1", HOST, AUTHORIZATION),
    "a space after the version": head(`${DELETE} `, HOST, AUTHORIZATION),
    "a NUL after the version": head(`${DELETE}\0`, HOST, AUTHORIZATION),
    "a tab after the method": head("DELETE\t/plants/1 HTTP/1.1", HOST, AUTHORIZATION),
    "a tab before the version": head("DELETE /plants/1\tHTTP/1.1", HOST, AUTHORIZATION),
    "a space in the target": head("DELETE /plants/1 2 HTTP/1.1", HOST, AUTHORIZATION),
    "a tab in the target": head("DELETE /plants/1\t HTTP/1.1", HOST, AUTHORIZATION),
    "a NUL in the target": head("DELETE /plants/1\0 HTTP/1.1", HOST, AUTHORIZATION),
    "a control character in the target": head("DELETE /plants/1\x01 HTTP/1.1", HOST, AUTHORIZATION),
    "a line feed in the target": head("DELETE /plants/1\n HTTP/1.1", HOST, AUTHORIZATION),
    "a NUL in the method": head("DELE\0TE /plants/1 HTTP/1.1", HOST, AUTHORIZATION),
    "a line feed after the version": `${DELETE}\n${HOST}\r\n${AUTHORIZATION}\r\n\r\n`,
    "HTTP/0.9": "GET /plants\r\n",
    "HTTP/0.9 with headers": head("DELETE /plants/1", HOST, AUTHORIZATION),
    "HTTP/0.9 with a version": head("DELETE /plants/1 HTTP/0.9", HOST, AUTHORIZATION),
    "HTTP/1.2": head("DELETE /plants/1 HTTP/1.2", HOST, AUTHORIZATION),
    "HTTP/1.10": head("DELETE /plants/1 HTTP/1.10", HOST, AUTHORIZATION),
    "HTTP/1": head("DELETE /plants/1 HTTP/1", HOST, AUTHORIZATION),
    "HTTP/01.1": head("DELETE /plants/1 HTTP/01.1", HOST, AUTHORIZATION),
    "HTTP/1,1": head("DELETE /plants/1 HTTP/1,1", HOST, AUTHORIZATION),
    "HTTP/2": head("DELETE /plants/1 HTTP/2", HOST, AUTHORIZATION),
    "HTTP/2.0": head("DELETE /plants/1 HTTP/2.0", HOST, AUTHORIZATION),
    "HTTP/3.0": head("DELETE /plants/1 HTTP/3.0", HOST, AUTHORIZATION),
    "http/1.1": head("DELETE /plants/1 http/1.1", HOST, AUTHORIZATION),
    "HTTPS/1.1": head("DELETE /plants/1 HTTPS/1.1", HOST, AUTHORIZATION),
    "another protocol": head("DELETE /plants/1 SHTTP/1.1", HOST, AUTHORIZATION),
  }),

  ...keepsOpen([40400], {
    "a header without a value": request("DELETE", "/plants/9", "X:"),
    "a header value of spaces": request("DELETE", "/plants/9", "X:    "),
    "a header value with colons": request("DELETE", "/plants/9", "X:::y"),
    "a header value with non-ASCII bytes": request("DELETE", "/plants/9", "X: \xff\xfe\x80"),
    "a header value with DEL": request("DELETE", "/plants/9", "X: \x7f"),
    "a header name with all valid punctuation": request("DELETE", "/plants/9", "!#$%&'*+-.^_`|~0: y"),
    "header names like members of Object.prototype": request("DELETE", "/plants/9", "__proto__: x", "constructor: y"),
  }),

  ...closes([200], {
    "HTTP/1.0": head("GET /plants HTTP/1.0", AUTHORIZATION),
    "HTTP/1.0 with Connection: keep-alive": head("GET /plants HTTP/1.0", AUTHORIZATION, "Connection: keep-alive"),
  }),
  ...closes(
    [200],
    {
      "a create in HTTP/1.0": `${head("POST /plants HTTP/1.0", AUTHORIZATION, "Content-Type: application/json", "Content-Length: 19")}${PLANT}`,
    },
    {
      plants: [EXISTING_ID, CREATED_ID],
    },
  ),
];
