/**
 * Writes to the database at the URL in its arguments with a commit observer that always throws. Prints the outcomes of
 * two creates in a row, and the number of uncaught errors, as JSON.
 */
import { type DatabaseUrl, parseDatabaseUrl } from "../../src/storage/database-url.ts";
import { openStorage } from "../../src/storage/open.ts";

let uncaught = 0;
process.on("uncaughtException", () => {
  uncaught++;
});
const storage = await openStorage(parseDatabaseUrl(process.argv[2] ?? "") as DatabaseUrl, {
  forServer: true,
  onCommit: () => {
    throw new Error("the observer failed");
  },
});
const outcomes: string[] = [];
for (const id of [1n, 2n])
  outcomes.push(await storage.insertPlant("ann", { id, name: "Fern" }, undefined).catch(String));
const plants = await storage.selectPlants("ann", { limit: 9 });
await storage.close();
process.on("exit", () => console.log(JSON.stringify({ outcomes, plants: plants.length, uncaught })));
