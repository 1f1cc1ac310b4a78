import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Download, Page } from "playwright-core";
import { PlantStoreClient } from "../../src/client/index.ts";
import { DISPLAYS, type Display, useBrowser } from "../support/browser-tests.ts";
import { createToken, type ServerProcess, startServerProcess } from "../support/program.ts";
import { newOwner, temporaryFolder } from "../support/service.ts";

const browser = useBrowser();
const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess(["--database", database]);
});
afterAll(async () => {
  await server.stop();
  folder.remove();
});

/** Opens the import view for a new owner; also returns a client of the owner. */
async function openImport(display: Display) {
  const token = await createToken(database, newOwner());
  const page = await browser.open(display);
  await page.goto(`${server.url}/?view=import#token=${token}`);
  await page.getByText("Drop a file here").waitFor();
  return { page, client: new PlantStoreClient({ url: server.url, token, attempts: 9 }) };
}

const choose = (page: Page, name: string, text: string | Buffer) =>
  page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
const clickButton = (page: Page, name: string | RegExp) => page.getByRole("button", { name }).click();
const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const ids = async (client: PlantStoreClient) =>
  (await Array.fromAsync(client.listPlants())).map(({ id }) => Number(id));
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const ndjson = (count: number) =>
  upTo(count)
    .map((id) => `{"id":${id},"name":"Plant ${id}","tag":"t"}\n`)
    .join("");
const textOf = async (download: Download) => Bun.file(await download.path()).text();

const LINES = [
  '{"id":-9223372036854775808,"name":"first"}',
  '{"id":1,"name":"says \\"a, b\\"","tag":"x,y"}',
  '{"id":2,"name":"=1+1;\\t\'","tag":""}',
  '{"id":9007199254740993,"name":"two\\r\\nlines","tag":" 🌱 "}',
  '{"id":9223372036854775807,"name":"last\u2028","tag":"0"}',
].map((line) => `${line}\n`);

describe.each(DISPLAYS)("importing on %s", (_, display: Display) => {
  it("shows a preview before sending anything, and offers the skipped rows for download", async () => {
    const { page, client } = await openImport(display);
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
    await choose(page, "plants.csv", `\ufeffId,Name,TAG,Note\r\n${rows.join("\r\n")}\r\n`);
    await waitForText(page, "5 plants to import. 2 rows are invalid and will be skipped.");
    await waitForText(page, "Ignored column: note.");
    expect(await page.locator("tbody tr").count()).toBe(5);
    expect(await ids(client)).toEqual([9]);
    await clickButton(page, "Import 5 plants");
    await waitForText(page, "Imported");
    await waitForText(page, "id 9 is already in use");
    const [download] = await Promise.all([page.waitForEvent("download"), clickButton(page, "Download 4 skipped rows")]);
    const skipped = (await textOf(download)).trim().split("\n");
    expect(
      skipped
        .slice(1)
        .map((line) => Number.parseInt(line, 10))
        .sort((a, b) => a - b),
    ).toEqual([3, 5, 6, 9]);
    expect(await ids(client)).toEqual([1, 2, 3, 9]);
    await page.getByRole("link", { name: "View plants" }).click();
    await waitForText(page, "4 plants");
  });

  it.each(["csv", "ndjson"])("reads back an export as %s, of one tag and of all plants", async (format) => {
    const { page, client } = await openImport(display);
    await choose(page, "plants.ndjson", LINES.join(""));
    await clickButton(page, "Import 5 plants");
    await page.getByRole("link", { name: "View plants" }).click();
    await waitForText(page, "5 plants");
    const save = async () => {
      await clickButton(page, "Export");
      const saving = page.waitForEvent("download");
      await clickButton(page, format.toUpperCase());
      const download = await saving;
      expect(download.suggestedFilename()).toBe(`plants.${format}`);
      await page.getByRole("dialog").waitFor({ state: "detached" });
      return textOf(download);
    };
    const all = await save();
    if (format === "ndjson") expect(all).toBe(LINES.join(""));
    await page.goto(`${server.url}/?tag=x,y`);
    await waitForText(page, "1 plant");
    const some = await save();
    expect(some.trim().split("\n").length).toBe(format === "csv" ? 2 : 1);
    for (const { id } of await Array.fromAsync(client.listPlants())) await client.deletePlant(id);
    await page.goto(`${server.url}/?view=import`);
    await choose(page, `again.${format}`, all);
    await clickButton(page, "Import 5 plants");
    await page.getByRole("link", { name: "View plants" }).click();
    await waitForText(page, "5 plants");
    expect(await save()).toBe(all);
  });

  it("accepts a dropped file", async () => {
    const { page } = await openImport(display);
    const dropped = await page.evaluateHandle(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{"id": 1, "name": "Clarkia"}\n'], "plants.jsonl"));
      return transfer;
    });
    const area = page.getByLabel("File", { exact: true });
    await area.dispatchEvent("dragover", { dataTransfer: dropped });
    await area.dispatchEvent("drop", { dataTransfer: dropped });
    await waitForText(page, "1 plant to import");
  });

  it("shows why a file cannot be imported", async () => {
    const { page } = await openImport(display);
    for (const [name, text, reason] of [
      ["plants.txt", "", "must end in .csv, .json, .ndjson or .jsonl"],
      ["plants.csv", "", "the file is empty"],
      ["plants.csv", "Clarkia,annual\n", "must contain each column name once"],
      ["plants.csv", Buffer.from([0x69, 0xff]), "well-formed UTF-8"],
      ["plants.json", '{"id": 1}', "one JSON array"],
      ["plants.json", "[", "cannot be imported"],
    ] as const) {
      await choose(page, name, Buffer.from(text));
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
    }
    await choose(page, "plants.json", '[{"id": 1, "name": "Clarkia"}]');
    await waitForText(page, "1 plant to import");
    await clickButton(page, "Choose another file");
    await waitForText(page, "Drop a file here");
  });
});

describe("importing many plants", () => {
  const DESKTOP = DISPLAYS[1]?.[1] as Display;

  it("imports 5,000 rows with progress, and continues after it is cancelled", async () => {
    const { page, client } = await openImport(DESKTOP);
    await choose(page, "plants.ndjson", ndjson(5_000));
    await clickButton(page, "Import 5,000 plants");
    const value = () => page.locator("progress").evaluate((bar: HTMLProgressElement) => bar.value);
    await page.waitForFunction(() => (document.querySelector("progress")?.value ?? 0) > 100);
    await clickButton(page, "Cancel");
    await waitForText(page, "Stopped");
    const stopped = await value();
    expect(stopped > 100 && stopped < 5_000).toBe(true);
    await clickButton(page, "Continue");
    await waitForText(page, "Imported");
    expect(await value()).toBe(5_000);
    expect(await ids(client)).toEqual(upTo(5_000));
  });

  it("continues by itself after a server restart, and creates no plant twice", async () => {
    const { page, client } = await openImport(DESKTOP);
    await choose(page, "plants.ndjson", ndjson(2_000));
    await clickButton(page, "Import 2,000 plants");
    await page.waitForFunction(() => (document.querySelector("progress")?.value ?? 0) > 100);
    await server.stop("SIGKILL");
    server = await startServerProcess(["--database", database, "--port", new URL(server.url).port]);
    await waitForText(page, "Imported");
    expect(await page.locator(".statistics > div").last().textContent()).toBe("0skipped");
    expect(await ids(client)).toEqual(upTo(2_000));
  });

  it("stops after a long network failure, and continues when the user clicks Continue", async () => {
    const { page, client } = await openImport(DESKTOP);
    // A fake clock skips the half minute of retries.
    await page.clock.install();
    await choose(page, "plants.ndjson", ndjson(300));
    let sent = 0;
    await page.route("**/plants", (route) => (++sent > 100 ? route.abort() : route.continue()));
    await clickButton(page, "Import 300 plants");
    for (const stopped = page.getByText("Interrupted"); (await stopped.count()) === 0; ) await page.clock.runFor(5_000);
    await page.getByRole("alert").filter({ hasText: "not created twice" }).waitFor();
    const { length } = await ids(client);
    expect(length > 0 && length <= 100).toBe(true);
    await page.unroute("**/plants");
    await clickButton(page, "Continue");
    for (const done = page.getByText("Imported"); (await done.count()) === 0; ) await page.clock.runFor(1_000);
    expect(await ids(client)).toEqual(upTo(300));
  });
});
