import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { startApp } from "./app.js";

test.each([40, 80, 120])("/session keeps the values of all fields in one column, at %d columns", async (columns) => {
	const app = await startApp({ columns, rows: 40 });
	await app.terminal.waitFor("0%");
	await app.submit("/session");
	await app.terminal.waitFor(/cost {7}/);
	const screen = (await app.terminal.screen()).map((line) => line.slice(2).trimEnd());
	const fields = screen.slice(screen.indexOf("Session") + 1, screen.findIndex((line) => line.startsWith("cost")) + 1);
	expect(
		fields.filter((line) => !/^(?:folder {5}|file {7}|id {9}|messages {3}|tokens {5}|cost {7}| {11})\S/.test(line)),
	).toEqual([]);
	const file = app.session().stats().sessionFile ?? "?";
	const values = fields.map((line) => line.slice(11));
	expect(values.join("")).toContain(`${dirname(file)}${basename(file)}`);
	if (columns >= 80) expect(values).toContain(basename(file));
});
