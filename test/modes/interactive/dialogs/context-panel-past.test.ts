import { expect, test } from "vitest";
import { panel, startWithWork, TAIL } from "./support.js";

/** Entries 1 to 4; 5: `/tail`; 6 and 7: a question and its answer, for which the model saw only the tail. */
async function startWithPast(size: { columns?: number } = {}) {
	const app = await startWithWork({ "tail.ts": TAIL }, size);
	await app.submit("/tail");
	await app.submit("now the tax code");
	await app.terminal.waitFor("The tax code is next.");
	return app;
}

test("[ and ] step through past requests, where hooks can be toggled too", async () => {
	const app = await startWithPast();
	const before = app.session().entries.length;
	await app.submit("/context");
	await app.terminal.waitFor("Next request");
	await app.terminal.type("[");
	await app.terminal.waitFor("Request 3 of 3");
	await app.terminal.type("h");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel-past.txt");
	await app.terminal.type("t");
	await app.terminal.waitFor(/ithout tail · Request 3 of 3/);
	expect((await panel(app)).filter((line) => /^[→ ][▎┆◆]/.test(line))).toHaveLength(9);
	await app.terminal.type("td");
	await app.terminal.waitFor("Changes: Request 3 of 3");
	expect((await panel(app)).filter((line) => /^[→ ][−+]/.test(line)).map((line) => line.slice(1, 17))).toEqual([
		"−  1 user       ",
		"−  2 assistant  ",
		"−  3 read       ",
		"+    tail       ",
		"+  6 user       ",
	]);
	await app.terminal.type("d[");
	await app.terminal.waitFor("Request 2 of 3");
	await app.terminal.type("[[");
	await app.terminal.waitFor("This is the first request");
	expect((await panel(app))[1]).toContain("Request 1 of 3");
	await app.terminal.type("]]");
	await app.terminal.waitFor("Request 3 of 3");
	await app.terminal.type("]");
	await app.terminal.waitFor("Next request");
	await app.terminal.type("[");
	await app.terminal.waitFor("Request 3 of 3");
	await app.terminal.press("escape");
	await app.terminal.waitFor("Next request");
	await app.terminal.press("escape");
	expect(await app.terminal.text()).not.toContain("Next request");
	expect(app.session().entries).toHaveLength(before);
});

test("/context with an entry index opens at that entry, in 40 columns too, and 0 goes to the next request", async () => {
	const app = await startWithPast({ columns: 40 });
	await app.submit("/context 4");
	await app.terminal.waitFor("Entry 4");
	await expect(`${(await panel(app)).join("\n")}\n`).toMatchFileSnapshot("../../../screens/context-panel-entry-40.txt");
	await app.terminal.type("]");
	await app.terminal.waitFor("Request 3 of 3");
	await app.terminal.type("0");
	await app.terminal.waitFor("Next request");
	await app.terminal.press("escape");
	await app.submit("/context 99");
	await app.terminal.waitFor("There is no entry 99");
	await app.terminal.press("ctrl+c");
	await app.submit("/context twelve");
	await app.terminal.waitFor("expected the");
});
