import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { agentDirFor, openPi, submit } from "./support.js";

const DIALOGS: readonly (readonly [command: string, title: RegExp])[] = [
	["/settings", /^ Settings/m],
	["/model", /^ Which model/m],
	["/resume", /^ Which session/m],
	["/compact", /^ Compact/m],
];

test.each([
	{ columns: 80, rows: 12 },
	{ columns: 40, rows: 10 },
	{ columns: 40, rows: 8 },
	{ columns: 30, rows: 10 },
])("dialogs show their title and the selected row on a screen of $columns × $rows", async ({ columns, rows }) => {
	const provider = await startProvider();
	provider.reply(...Array.from({ length: 8 }, (_, at) => `Answer ${at + 1}.`));
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	for (let turn = 1; turn <= 6; turn++) {
		await submit(pi, `question ${turn} ${"with many words ".repeat(60)}`);
		await pi.waitForText(`Answer ${turn}.`);
	}
	pi.resize(columns, rows);
	await pi.waitForText(new RegExp(`^─{${columns}}$`, "m"));
	for (const [command, title] of DIALOGS) {
		await submit(pi, command);
		expect(await pi.waitForText(title)).toMatch(/^ ?→/m);
		await pi.press("escape");
		await pi.waitForGone(title);
	}
});

test("the editor's text is visible in a window of three rows", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText(/Scripted$/m);
	pi.type("a draft");
	await pi.waitForText("a draft");
	for (const rows of [3, 2]) {
		pi.resize(80, rows);
		await pi.waitForScreen((screen) => screen.split("\n").length <= rows && screen.includes("a draft"), `${rows} rows`);
	}
});
