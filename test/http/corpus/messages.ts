import { answered, ask, cut, head, KEPT, MADE, PLANT, TOKEN } from "./exchange.ts";

const HOST = "Host: x";
const DELETE = "DELETE /plants/1 HTTP/1.1";
const ACCESS = `Authorization: Bearer ${TOKEN}`;
/** A delete with one more line in its head. */
const deleteWith = (line: string): string => head(DELETE, HOST, ACCESS, line);

/** Messages whose lines are not those of HTTP (RFC 9112, 2 to 5). Most would delete the plant. */
export const messages = [
  ...cut([400], {
    "a line end before the request": `\r\n${head(DELETE, HOST, ACCESS)}`,
    "two line ends before the request": `\r\n\r\n${head(DELETE, HOST, ACCESS)}`,
    "a line feed before the request": `\n${head(DELETE, HOST, ACCESS)}`,
    "a space before the request": ` ${head(DELETE, HOST, ACCESS)}`,
    "a NUL before the request": `\0${head(DELETE, HOST, ACCESS)}`,
    "a byte order mark before the request": `\xef\xbb\xbf${head(DELETE, HOST, ACCESS)}`,
    "two spaces after the method": head("DELETE  /plants/1 HTTP/1.1", HOST, ACCESS),
    "a space in the method": head("DEL ETE /plants/1 HTTP/1.1", HOST, ACCESS),
    "nothing but a method": head("DELETE", HOST, ACCESS),
    "no target": head("DELETE HTTP/1.1", HOST, ACCESS),
    "no method": head("/plants/1 HTTP/1.1", HOST, ACCESS),
    "nothing but line ends": "\r\n\r\n",
    "nothing but line feeds": "\n\n",
    "a header before a space": deleteWith("X : y"),
    "a header behind a space": deleteWith(" X: y"),
    "a folded header": deleteWith("X: y\r\n z"),
    "a header folded with a tab": deleteWith("X: y\r\n\tz"),
    "a header without a colon": deleteWith("X y"),
    "a header of nothing but spaces": deleteWith("   "),
    "a header without a name": deleteWith(": y"),
    "a header of nothing but a colon": deleteWith(":"),
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
    "a header name with a letter beyond ASCII": deleteWith("X\xc3\xa9: y"),
    "a header value with a NUL": deleteWith("X: a\0b"),
    "a header value with a control character": deleteWith("X: a\x01b"),
    "a header value with an escape": deleteWith("X: \x1b[2J"),
    "a header value with a carriage return": deleteWith("X: a\rb"),
    "a header value with a line feed": deleteWith("X: a\nb"),
    "a header value with a form feed": deleteWith("X: a\fb"),
    "a line feed for a line end in the head": `${DELETE}\r\n${HOST}\n${ACCESS}\r\n\r\n`,
    "a line feed for the last line end": `${DELETE}\r\n${HOST}\r\n${ACCESS}\r\n\n`,
    "a carriage return for a line end in the head": `${DELETE}\r\n${HOST}\r${ACCESS}\r\n\r\n`,
    "two carriage returns before a line feed": `${DELETE}\r\n${HOST}\r\r\n${ACCESS}\r\n\r\n`,
  }),

  // Whatever does not end in " HTTP/1.0" or " HTTP/1.1" is taken for a version that is not spoken.
  ...cut([505], {
    "line feeds for line ends": `${DELETE}\n${HOST}\n${ACCESS}\n\n`,
    "carriage returns for line ends": `${DELETE}\r${HOST}\r${ACCESS}\r\r`,
    "two spaces before the version": head("DELETE /plants/1  HTTP/1.1", HOST, ACCESS),
    "a space after the version": head(`${DELETE} `, HOST, ACCESS),
    "a NUL after the version": head(`${DELETE}\0`, HOST, ACCESS),
    "a tab after the method": head("DELETE\t/plants/1 HTTP/1.1", HOST, ACCESS),
    "a tab before the version": head("DELETE /plants/1\tHTTP/1.1", HOST, ACCESS),
    "a space in the target": head("DELETE /plants/1 2 HTTP/1.1", HOST, ACCESS),
    "a tab in the target": head("DELETE /plants/1\t HTTP/1.1", HOST, ACCESS),
    "a NUL in the target": head("DELETE /plants/1\0 HTTP/1.1", HOST, ACCESS),
    "a control character in the target": head("DELETE /plants/1\x01 HTTP/1.1", HOST, ACCESS),
    "a line feed in the target": head("DELETE /plants/1\n HTTP/1.1", HOST, ACCESS),
    "a NUL in the method": head("DELE\0TE /plants/1 HTTP/1.1", HOST, ACCESS),
    "a line feed after the version": `${DELETE}\n${HOST}\r\n${ACCESS}\r\n\r\n`,
    "HTTP/0.9": "GET /plants\r\n",
    "HTTP/0.9 with headers": head("DELETE /plants/1", HOST, ACCESS),
    "HTTP/0.9 with its version": head("DELETE /plants/1 HTTP/0.9", HOST, ACCESS),
    "HTTP/1.2": head("DELETE /plants/1 HTTP/1.2", HOST, ACCESS),
    "HTTP/1.10": head("DELETE /plants/1 HTTP/1.10", HOST, ACCESS),
    "HTTP/1": head("DELETE /plants/1 HTTP/1", HOST, ACCESS),
    "HTTP/01.1": head("DELETE /plants/1 HTTP/01.1", HOST, ACCESS),
    "HTTP/1,1": head("DELETE /plants/1 HTTP/1,1", HOST, ACCESS),
    "HTTP/2": head("DELETE /plants/1 HTTP/2", HOST, ACCESS),
    "HTTP/2.0": head("DELETE /plants/1 HTTP/2.0", HOST, ACCESS),
    "HTTP/3.0": head("DELETE /plants/1 HTTP/3.0", HOST, ACCESS),
    "http/1.1": head("DELETE /plants/1 http/1.1", HOST, ACCESS),
    "HTTPS/1.1": head("DELETE /plants/1 HTTPS/1.1", HOST, ACCESS),
    "another protocol": head("DELETE /plants/1 SHTTP/1.1", HOST, ACCESS),
  }),

  ...answered([40400], {
    "a header without a value": ask("DELETE", "/plants/9", "X:"),
    "a header of spaces": ask("DELETE", "/plants/9", "X:    "),
    "a header of many colons": ask("DELETE", "/plants/9", "X:::y"),
    "a header value with bytes beyond ASCII": ask("DELETE", "/plants/9", "X: \xff\xfe\x80"),
    "a header value with DEL": ask("DELETE", "/plants/9", "X: \x7f"),
    "a header name of odd but legal characters": ask("DELETE", "/plants/9", "!#$%&'*+-.^_`|~0: y"),
    "a header name like a member of every object": ask("DELETE", "/plants/9", "__proto__: x", "constructor: y"),
  }),

  ...cut([200], {
    "HTTP/1.0": head("GET /plants HTTP/1.0", ACCESS),
    "HTTP/1.0 that asks to go on": head("GET /plants HTTP/1.0", ACCESS, "Connection: keep-alive"),
  }),
  ...cut(
    [200],
    {
      "a create in HTTP/1.0": `${head("POST /plants HTTP/1.0", ACCESS, "Content-Type: application/json", "Content-Length: 19")}${PLANT}`,
    },
    {
      plants: [KEPT, MADE],
    },
  ),
];
