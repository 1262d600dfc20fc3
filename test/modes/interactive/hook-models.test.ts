import { expect, test } from "vitest";
import { startApp } from "./app.js";
import { panel } from "./dialogs/support.js";

const ROWS = {
	40: " →   corp/m                   hook corp",
	80: " →   corp/m                                    64k                 –  hook corp",
	120: " →   corp/m                                                                 64k                 –             hook corp",
};

const CORP = `export default (pi) => pi.provider("corp", {
	models: [{ id: "m", name: "Corp M", contextWindow: 64000 }],
	async *stream(model, context) { throw new Error("the line is busy"); },
});`;

test.each([40, 120] as const)("/model lists the models of a hook with their source, at %d columns", async (columns) => {
	const app = await startApp({ columns, hooks: { "corp.ts": CORP } });
	await app.terminal.waitFor("0%");
	await app.submit("/model");
	await app.terminal.waitFor("scripted");
	await app.terminal.type("corp");
	await app.terminal.waitFor(/→ +corp\/m/);
	expect(await panel(app)).toContain(ROWS[columns]);
});

test("a session that starts with a model of a hook shows it, and an error of its stream", async () => {
	const app = await startApp({
		hooks: { "corp.ts": CORP },
		model: "corp/m",
		agentSettings: { retry: { enabled: false } },
	});
	await app.terminal.waitFor("Corp M");
	await app.submit("hi");
	await app.terminal.waitFor("the line is busy");
});
