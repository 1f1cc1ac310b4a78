import { Buffer } from "node:buffer";
import { parse as parseCsv } from "csv-parse/stream";
import type { AppError } from "../domain/error.ts";
import { parseJson, parseJsonWithId } from "../domain/json.ts";
import { type Plant, parsePlant, requirePlantId } from "../domain/plant.ts";
import type { Format } from "./formats.ts";

/**
 * A row of a file: a plant, or the problem of an invalid row. `line` counts from 1; for a JSON array it is the
 * element number. `fields` are the names of all fields of the row, in lower case for CSV; unknown fields are ignored.
 */
export type Row = { readonly line: number; readonly fields: readonly string[] } & (
  | { readonly plant: Plant }
  | { readonly problem: string }
);

/** Maximum length of an NDJSON line. The longest plant, with every character escaped, takes less than 16 KiB. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Yields the rows of a file, including invalid ones.
 * @throws Error when the file as a whole is not valid in its format
 */
export function readRows(bytes: ReadableStream<Uint8Array>, format: Format): AsyncGenerator<Row, void> {
  return { ndjson: readNdjson, csv: readCsv, json: readJsonArray }[format](bytes);
}

async function* readNdjson(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Row, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 0;
  for await (const lineBytes of splitLines(chunksOf(bytes))) {
    line++;
    try {
      const text = decoder.decode(lineBytes);
      if (text.trim() !== "") yield toJsonRow(line, parseJsonWithId(text));
    } catch {
      yield { line, fields: [], problem: "the line must be one JSON object in well-formed UTF-8" };
    }
  }
}

async function* readJsonArray(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Row, void> {
  const elements = parseJson(await new Response(bytes.pipeThrough(strictUtf8())).text());
  if (!Array.isArray(elements)) throw new Error("the file must be one JSON array");
  for (const [index, element] of elements.entries()) yield toJsonRow(index + 1, element);
}

async function* readCsv(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Row, void> {
  const options = {
    bom: true,
    info: true,
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    skip_empty_lines: true,
    cast: toCell,
  };
  const records: ReadableStream<CsvRecord> = bytes.pipeThrough(strictUtf8()).pipeThrough(parseCsv(options));
  let columns: string[] | undefined;
  for await (const { record, info } of chunksOf(records)) {
    if (columns === undefined) columns = readColumns(record);
    else yield toCsvRow(info.lines, columns, record);
  }
  if (columns === undefined) throw new Error("the file is empty: the first line must contain the column names");
}

/** An empty cell is `null` without quotes and an empty string with quotes. */
type Cell = string | null;
const toCell = (text: string, { quoting }: { quoting: boolean }) => (text === "" && !quoting ? null : text) as string;

interface CsvRecord {
  readonly record: readonly Cell[];
  readonly info: { readonly lines: number };
}

function readColumns(cells: readonly Cell[]): string[] {
  const columns = cells.map((cell) => cell?.toLowerCase() ?? "");
  const isValid = columns.includes("id") && columns.includes("name") && new Set(columns).size === columns.length;
  if (isValid) return columns;
  throw new Error("the first line must contain each column name once, including id and name");
}

function toCsvRow(line: number, columns: readonly string[], cells: readonly Cell[]): Row {
  if (cells.length !== columns.length) {
    return { line, fields: columns, problem: `the line must have ${columns.length} columns, like the first line` };
  }
  const values = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? undefined]));
  return toRow(line, columns, () => parsePlant({ ...values, id: requirePlantId(values["id"] ?? "", "id") }));
}

function toJsonRow(line: number, value: unknown): Row {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return toRow(line, isObject ? Object.keys(value) : [], () => parsePlant(value));
}

function toRow(line: number, fields: readonly string[], parse: () => Plant): Row {
  try {
    return { line, fields, plant: parse() };
  } catch (error) {
    return { line, fields, problem: (error as AppError).message };
  }
}

/** Passes valid UTF-8 through as bytes and fails on invalid UTF-8, which the CSV parser would replace with U+FFFD. */
function strictUtf8(): TransformStream<Uint8Array, Buffer> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const validate = (chunk?: Uint8Array) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new Error("the file must be well-formed UTF-8");
    }
  };
  return new TransformStream({
    transform(chunk, controller) {
      validate(chunk);
      controller.enqueue(Buffer.from(chunk));
    },
    flush: () => validate(),
  });
}

/** Splits at line feeds only, because a JSON string may contain U+2028 and other Unicode line separators. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest = new Uint8Array();
  for await (const chunk of chunks) {
    const data = new Uint8Array(rest.length + chunk.length);
    data.set(rest);
    data.set(chunk, rest.length);
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      yield data.subarray(start, end);
      start = end + 1;
    }
    rest = data.subarray(start);
    if (rest.length > MAX_LINE_BYTES)
      throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes: is the file NDJSON?`);
  }
  if (rest.length > 0) yield rest;
}

/** Yields the chunks of a stream. Safari before 26 cannot iterate a stream directly. */
async function* chunksOf<Chunk>(stream: ReadableStream<Chunk>): AsyncGenerator<Chunk, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}
