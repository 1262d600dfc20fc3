import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { EVENTS_VERSION, JSON_EVENTS } from "../../src/modes/event-schema.js";
import { textDelta } from "../../src/modes/json-events.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/json.md"), "utf8");

test("the table lists exactly the events of the schema", () => {
	const [, section = ""] = /^## Events$([\s\S]*?)^## /m.exec(page) ?? [];
	const rows = section.split("\n").filter((line) => line.startsWith("| `"));
	const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name));
	expect(named.sort()).toEqual(Object.keys(JSON_EVENTS).sort());
});

test("the page names the version of the schema", () => {
	const { $id } = JSON.parse(readFileSync(join(root, "schemas/events.json"), "utf8"));
	expect($id.endsWith(`:${EVENTS_VERSION}`)).toBe(true);
	expect(page).toContain(`now \`${EVENTS_VERSION}\``);
});

test("the function of the page rebuilds every text from the updates", async () => {
	const [, code = ""] = /^```js follow\.js\n([\s\S]*?)^```$/m.exec(page) ?? [];
	const dir = tempDir();
	writeFiles(dir, { "follow.mjs": code });
	const { follow } = await import(pathToFileURL(join(dir, "follow.mjs")).href);
	const texts = ["", "a\n", "a\n10 %", "a\n20 %", "a\ndone\nb\nc\n", "done\nb\nc\nd\n", ""];
	let output = "";
	for (const text of texts) {
		const update = textDelta(output, text);
		if (update) output = follow(output, update);
		expect(output).toBe(text);
	}
});
