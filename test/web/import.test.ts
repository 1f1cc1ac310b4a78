import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Download, Page } from "playwright-core";
import { PlantStoreClient } from "../../src/client/index.ts";
import { EACH_LOOK, type Look, useVisitors } from "../support/browser-tests.ts";
import { createToken, type Program, startProgram } from "../support/program.ts";
import { newOwner, temporaryFolder } from "../support/service.ts";

const visitors = useVisitors();
const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
let server: Program;
beforeAll(async () => {
  server = await startProgram(["--database", database]);
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

/** A visitor who is about to import, and the client of the same owner. */
async function visit(look: Look) {
  const token = await createToken(database, newOwner());
  const page = await visitors.open(look);
  await page.goto(`${server.url}/?view=import#token=${token}`);
  await page.getByText("Drop a file here").waitFor();
  return { page, client: new PlantStoreClient({ url: server.url, token, attempts: 9 }) };
}

const choose = (page: Page, name: string, text: string | Buffer) =>
  page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
const press = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const ids = async (client: PlantStoreClient) =>
  (await Array.fromAsync(client.listPlants())).map(({ id }) => Number(id));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const ndjson = (count: number) =>
  upTo(count)
    .map((id) => `{"id":${id},"name":"Plant ${id}","tag":"t"}\n`)
    .join("");
const textOf = async (download: Download) => Bun.file(await download.path()).text();

const GARDEN = [
  '{"id":-9223372036854775808,"name":"first"}',
  '{"id":1,"name":"says \\"a, b\\"","tag":"x,y"}',
  '{"id":2,"name":"=1+1;\\t\'","tag":""}',
  '{"id":9007199254740993,"name":"two\\r\\nlines","tag":" 🌱 "}',
  '{"id":9223372036854775807,"name":"last\u2028","tag":"0"}',
].map((line) => `${line}\n`);

describe.each(EACH_LOOK)("importing on %s", (_, look: Look) => {
  it("shows what is in a file before anything is sent, then what became of it, and hands out what was refused", async () => {
    const { page, client } = await visit(look);
    await client.createPlant({ id: 9n, name: "Here already" });
    const rows = [
      "1,Clarkia,annual,a",
      "x,Bad,,b",
      "2,Vitis,,c",
      ",,,",
      "9,Taken,,d",
      '3,"two\nlines","",e',
      "1,Twice,,f",
    ];
    await choose(page, "garden.csv", `\ufeffId,Name,TAG,Note\r\n${rows.join("\r\n")}\r\n`);
    await says(page, "5 plants to import. 2 rows are no plant and will be refused.");
    await says(page, "These columns are passed over: note.");
    expect(await page.locator("tbody tr").count()).toBe(5);
    expect(await ids(client)).toEqual([9]);
    await press(page, "Import 5 plants");
    await says(page, "Imported");
    await says(page, "id 9 is already in use");
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Download 4 refused rows")]);
    const refused = (await textOf(download)).trim().split("\n");
    expect(
      refused
        .slice(1)
        .map((line) => Number.parseInt(line, 10))
        .sort((a, b) => a - b),
    ).toEqual([3, 5, 6, 9]);
    expect(await ids(client)).toEqual([1, 2, 3, 9]);
    await page.getByRole("link", { name: "See the plants" }).click();
    await says(page, "4 plants");
  });

  it.each(["csv", "ndjson"])(
    "and exporting again gives the same plants, as %s, of the chosen tag or all",
    async (format) => {
      const { page, client } = await visit(look);
      await choose(page, "garden.ndjson", GARDEN.join(""));
      await press(page, "Import 5 plants");
      await page.getByRole("link", { name: "See the plants" }).click();
      await says(page, "5 plants");
      const save = async () => {
        await press(page, "Export");
        const saving = page.waitForEvent("download");
        await press(page, format.toUpperCase());
        const download = await saving;
        expect(download.suggestedFilename()).toBe(`plants.${format}`);
        await page.getByRole("dialog").waitFor({ state: "detached" });
        return textOf(download);
      };
      const all = await save();
      if (format === "ndjson") expect(all).toBe(GARDEN.join(""));
      await page.goto(`${server.url}/?tag=x,y`);
      await says(page, "1 plant");
      const some = await save();
      expect(some.trim().split("\n").length).toBe(format === "csv" ? 2 : 1);
      for (const { id } of await Array.fromAsync(client.listPlants())) await client.deletePlant(id);
      await page.goto(`${server.url}/?view=import`);
      await choose(page, `again.${format}`, all);
      await press(page, "Import 5 plants");
      await page.getByRole("link", { name: "See the plants" }).click();
      await says(page, "5 plants");
      expect(await save()).toBe(all);
    },
  );

  it("takes a file that is dropped", async () => {
    const { page } = await visit(look);
    const dropped = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{"id": 1, "name": "Clarkia"}\n'], "garden.jsonl"));
      return transfer;
    });
    const area = page.getByLabel("File", { exact: true });
    await area.dispatchEvent("dragover", { dataTransfer: dropped });
    await area.dispatchEvent("drop", { dataTransfer: dropped });
    await says(page, "1 plant to import");
  });

  it("says why a file is none that it can take", async () => {
    const { page } = await visit(look);
    for (const [name, text, reason] of [
      ["garden.txt", "", "must end in .csv, .json, .ndjson or .jsonl"],
      ["garden.csv", "", "the file is empty"],
      ["garden.csv", "Clarkia,annual\n", "must name the columns"],
      ["garden.csv", Buffer.from([0x69, 0xff]), "well-formed UTF-8"],
      ["garden.json", '{"id": 1}', "one JSON array"],
      ["garden.json", "[", "cannot be imported"],
    ] as const) {
      await choose(page, name, Buffer.from(text));
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
    }
    await choose(page, "garden.json", '[{"id": 1, "name": "Clarkia"}]');
    await says(page, "1 plant to import");
    await press(page, "Another file");
    await says(page, "Drop a file here");
  });
});

describe("importing many plants", () => {
  const WIDE = EACH_LOOK[1]?.[1] as Look;

  it("takes 5,000 rows, tells how far it is, and goes on after it was cancelled", async () => {
    const { page, client } = await visit(WIDE);
    await choose(page, "garden.ndjson", ndjson(5_000));
    await press(page, "Import 5,000 plants");
    const value = () => page.locator("progress").evaluate((bar: HTMLProgressElement) => bar.value);
    await page.waitForFunction(() => (document.querySelector("progress")?.value ?? 0) > 100);
    await press(page, "Cancel");
    await says(page, "Stopped");
    const stopped = await value();
    expect(stopped > 100 && stopped < 5_000).toBe(true);
    await press(page, "Go on");
    await says(page, "Imported");
    expect(await value()).toBe(5_000);
    expect(await ids(client)).toEqual(upTo(5_000));
  });

  it("goes on by itself when the server is restarted in the middle, and creates nothing twice", async () => {
    const { page, client } = await visit(WIDE);
    await choose(page, "garden.ndjson", ndjson(2_000));
    await press(page, "Import 2,000 plants");
    await page.waitForFunction(() => (document.querySelector("progress")?.value ?? 0) > 100);
    await server.stop("SIGKILL");
    server = await startProgram(["--database", database, "--port", new URL(server.url).port]);
    await says(page, "Imported");
    expect(await page.locator(".figures > div").last().textContent()).toBe("0refused");
    expect(await ids(client)).toEqual(upTo(2_000));
  });

  it("stops when the network stays away, says how far it came, and goes on when asked", async () => {
    const { page, client } = await visit(WIDE);
    // Half a minute of attempts, in no time.
    await page.clock.install();
    await choose(page, "garden.ndjson", ndjson(300));
    let sent = 0;
    await page.route("**/plants", (route) => (++sent > 100 ? route.abort() : route.continue()));
    await press(page, "Import 300 plants");
    for (const stopped = page.getByText("Interrupted"); (await stopped.count()) === 0; ) await page.clock.runFor(5_000);
    await page.getByRole("alert").filter({ hasText: "Nothing is lost" }).waitFor();
    const { length } = await ids(client);
    expect(length > 0 && length <= 100).toBe(true);
    await page.unroute("**/plants");
    await press(page, "Go on");
    for (const done = page.getByText("Imported"); (await done.count()) === 0; ) await page.clock.runFor(1_000);
    expect(await ids(client)).toEqual(upTo(300));
  });
});
