import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findUse } from "../../src/extensions/check-source.js";
import { REFUSED_EVENTS, REFUSED_MEMBERS } from "../../src/extensions/refusals.js";
import { createHookTest } from "../../src/testing/index.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const page = readFileSync(new URL("../../docs/extensions.md", import.meta.url), "utf8");

function code(file: string): string {
	return new RegExp(`^\`\`\`ts ${file}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page)?.[1] ?? expect.fail(file);
}

test("the extension of the page runs", async () => {
	const dir = tempDir();
	writeFiles(dir, { "status.ts": code("status.ts") });
	const t = await createHookTest({ hooks: [], extensions: [join(dir, "status.ts")], replies: ["one"] });
	onTestFinished(() => t.dispose());
	await t.run("go");
	await t.run("/turns");
	expect([t.screen.statuses, t.notices, t.errors]).toEqual([{ turns: "1 turns" }, ["1 turns so far"], []]);
});

test("the check of the page shows what it finds", async () => {
	const { works, refused } = await findUse(code("trust.ts"));
	const lines = refused.map(({ what, reason, line }) => `refused   ${what} in line ${line}: ${reason}`);
	expect(page).toContain([`works     ${works.join(", ")}`, ...lines].join("\n"));
});

test("the table lists everything that pi refuses, with the reason that users see", () => {
	const rows = [
		...Object.entries(REFUSED_EVENTS).map(([name, reason]) => `| event \`${name}\` | ${reason} |`),
		...Object.entries(REFUSED_MEMBERS).map(([name, reason]) => `| \`${name}\` | ${reason} |`),
	];
	expect(page.slice(page.indexOf("| refused |")).trim().split("\n").slice(2)).toEqual(rows);
});
