import { expect, test } from "vitest";
import { startApp } from "./app.js";

const HINT = "Scripted does not support thinking";

test.each([40, 120])(
	"at %d columns the line about a key goes with the next key, and leaves no row",
	async (columns) => {
		const app = await startApp({ columns });
		await app.terminal.waitFor("0%");
		const before = await app.terminal.text();
		await app.terminal.press("alt+t");
		expect(await app.terminal.waitFor(HINT)).toContain(HINT);
		await app.terminal.press("left");
		expect(await app.terminal.text()).toBe(before);
	},
);

test("the line that a model does not think goes when another model is chosen", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.terminal.press("alt+t");
	await app.terminal.waitFor(HINT);
	const { model } = app.session();
	if (!model) throw new Error("the session has no model");
	await app.session().setModel({ ...model, id: "another", name: "Another" });
	await app.terminal.waitFor("Another");
	expect(await app.terminal.text()).not.toContain(HINT);
});

test("the status of /model and /thinking goes when a key chooses another one", async () => {
	const app = await startApp({ modelOptions: { reasoning: true } });
	await app.terminal.waitFor("0%");
	await app.submit("/thinking high");
	await app.terminal.waitFor("Thinking: high");
	await app.terminal.press("alt+t");
	expect(await app.terminal.text()).not.toContain("Thinking: high");
	await app.submit("/model loopback/scripted:low");
	await app.terminal.waitFor("Model: loopback/scripted · thinking: low");
	app.session().setThinkingLevel("medium");
	expect(await app.terminal.text()).not.toContain("Model: ");
});

test.each(["/thinking high", "/thinking"])(
	"%s says the same as alt+t for a model that does not think",
	async (line) => {
		const app = await startApp();
		await app.terminal.waitFor("0%");
		await app.submit(line);
		await app.terminal.waitFor(HINT);
		expect(await app.terminal.text()).not.toMatch(/Thinking: |Which/);
	},
);

test("the line that no editor was found goes before pi quits", async () => {
	const app = await startApp({ mode: { findEditor: async () => null } });
	await app.terminal.waitFor("0%");
	await app.terminal.press("ctrl+g");
	await app.terminal.waitFor("no editor found");
	await app.submit("/quit");
	expect(await app.exit).toBe(0);
	expect(await app.terminal.text()).not.toContain("no editor found");
});

test("the line that another ctrl+c quits goes when that is no longer true, also while a reply streams", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	let finish = () => {};
	const hold = new Promise<void>((resolve) => {
		finish = resolve;
	});
	app.provider.reply({ content: [{ type: "text", text: "The beginning" }], hold });
	await app.submit("tell me");
	await app.terminal.waitFor("The beginning");
	await app.terminal.press("ctrl+c");
	await app.terminal.waitFor("press ctrl+c again to quit");
	await expect.poll(() => app.terminal.text()).not.toContain("again to quit");
	await app.terminal.press("ctrl+c");
	await app.terminal.waitFor("press ctrl+c again to quit");
	finish();
});
