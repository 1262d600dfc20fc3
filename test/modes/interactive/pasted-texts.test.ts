import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PastedTexts } from "../../../src/modes/interactive/pasted-texts.js";
import { startApp } from "./app.js";

const LINES = Array.from({ length: 200 }, (_, at) => `log line ${at + 1}`);
const PASTE = `${LINES.join("\n")}\n`;

test("pasted parts are found in a prompt, in order and without overlaps", () => {
	const texts = new PastedTexts();
	for (const text of ["second", "first part\n", "first"]) texts.add(text);
	expect(texts.in("see first part and second second")).toEqual([
		{ start: 4, end: 14 },
		{ start: 19, end: 25 },
		{ start: 26, end: 32 },
	]);
	expect(texts.in("nothing of it")).toEqual([]);
});

test.each([40, 80])(
	"a long paste is folded in the transcript as in the editor, also after a resume, at %i columns",
	async (columns) => {
		const app = await startApp({ columns, rows: 24, session: { kind: "new" } });
		await app.terminal.waitFor("0%");
		app.provider.reply("Read.", "Fine.");
		await app.terminal.type("why does this fail: ");
		await app.terminal.paste(PASTE);
		await app.terminal.type(" in CI?");
		await app.terminal.waitFor("[paste #1 +200 lines] in CI?");
		await app.terminal.press("enter");
		await app.terminal.waitFor("Read.");
		expect(app.provider.requests[0]?.messages.at(-1)?.text).toBe(`why does this fail: ${PASTE} in CI?`);
		const expected = [
			"▎ › why does this fail: log line 1",
			...LINES.slice(1, 6).map((line) => `▎   ${line}`),
			expect.stringMatching(/^▎ {3}… 194 lines below · ctrl\+o transc/),
			"▎   in CI?",
			"▎",
			"▎ Read.",
		];
		const shown = async () => {
			const screen = await app.terminal.screen();
			const at = screen.findIndex((line) => line.includes("› why"));
			return screen.slice(at, at + 10).map((line) => line.trimEnd());
		};
		expect(await shown()).toEqual(expected);
		const file = app.session().sessionFile ?? "";
		await app.submit("/new");
		await app.terminal.waitFor("New session");
		await app.session().switchSession(file);
		await app.terminal.waitFor("Read.");
		expect(await shown()).toEqual(expected);
		await app.terminal.press("ctrl+o");
		await app.terminal.waitFor("Transcript ·");
		expect((await app.terminal.text()).split("\n")[7]).toMatch(/… 194 lines below$/);
		await app.terminal.type("E");
		await app.terminal.press("end");
		await app.terminal.waitFor("log line 200");
		expect(JSON.parse(readFileSync(file, "utf8").split("\n")[1] ?? "")).toMatchObject({
			pasted: [{ start: 20, end: 20 + PASTE.trim().length }],
		});
	},
);

test("a paste that is queued and sent again stays folded, and one that a hook changed is shown in full", async () => {
	const hooks = {
		"brief.ts": `export default (pi) => pi.on("prompt", ({ text }) => text.startsWith("Brief") ? { text: text + " Be brief." } : undefined);`,
	};
	const app = await startApp({ rows: 24, hooks });
	await app.terminal.waitFor("0%");
	let answer = (_: string) => {};
	const asked = new Promise<string>((resolve) => {
		answer = resolve;
	});
	app.provider.reply(() => asked, "Read.", "Changed.");
	await app.submit("go");
	await app.terminal.waitFor("esc stops");
	await app.terminal.paste(PASTE);
	await app.terminal.press("enter");
	await app.terminal.waitFor("→ next: log line 1");
	answer("Gone.");
	await app.terminal.waitFor("Read.");
	expect(await app.terminal.text()).toContain("… 194 lines below");
	await app.terminal.type("Brief: ");
	await app.terminal.paste(PASTE);
	await app.terminal.press("enter");
	await app.terminal.waitFor("Changed.");
	expect(await app.terminal.text()).toContain("log line 200 Be brief.");
});
