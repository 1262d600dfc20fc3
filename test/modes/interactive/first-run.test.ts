import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startApp } from "./app.js";

const QUESTION = "pi has no model";

test("a start without any model offers the ways to one", async () => {
	const app = await startApp({ withoutModel: true, mode: { startDemo: () => {} } });
	await app.terminal.waitFor(QUESTION);
	await expect(await app.terminal.text()).toMatchFileSnapshot("../../screens/first-run.txt");
});

test("the choice fits a narrow screen", async () => {
	const app = await startApp({ withoutModel: true, columns: 40, mode: { startDemo: () => {} } });
	await app.terminal.waitFor(QUESTION);
	await expect(await app.terminal.text()).toMatchFileSnapshot("../../screens/first-run-40.txt");
});

test("a key that is pasted is kept, and its provider's model is there at once", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("Which provider?");
	await app.terminal.type("openai");
	await app.terminal.waitFor("→ openai ");
	await app.terminal.press("enter");
	await app.terminal.waitFor("API key for openai");
	await app.terminal.paste(" sk-made-up-for-this-test \n");
	await app.terminal.press("enter");
	await app.terminal.waitFor("model: openai/");
	expect(app.session().model?.provider).toBe("openai");
	expect(JSON.parse(readFileSync(join(app.agentDir, "auth.json"), "utf8"))).toEqual({
		openai: { type: "api_key", key: "sk-made-up-for-this-test" },
	});
	expect(app.terminal.output).not.toContain("sk-made-up");
});

test("a way that is given up leads back to the choice, and escape there says how to get it again", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("Which provider?");
	await app.terminal.press("escape");
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("escape");
	await app.terminal.waitFor("No model yet · run /setup to connect one");
	await app.submit("/setup");
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("escape");
});

test("where no server answers on this machine that is said, and the choice stays", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.type("local");
	await app.terminal.press("enter");
	await app.terminal.waitFor("No model server found on this machine");
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("escape");
});

test("the demo ends this shell and begins", async () => {
	let began = 0;
	const app = await startApp({
		withoutModel: true,
		mode: {
			startDemo: () => {
				began += 1;
			},
		},
	});
	await app.terminal.waitFor(QUESTION);
	await app.terminal.type("demo");
	await app.terminal.press("enter");
	expect(await app.exit).toBe(0);
	expect(began).toBe(1);
});

test("prompts of the command line wait for the choice", async () => {
	const app = await startApp({ withoutModel: true, mode: { prompts: [{ text: "why?" }] } });
	await app.terminal.waitFor(QUESTION);
	expect(await app.terminal.text()).not.toContain("why?");
	await app.terminal.press("escape");
	await app.terminal.waitFor("✗ No model is chosen");
});

test("somebody who types already is not asked; what to do is said when it is sent", async () => {
	const app = await startApp({ withoutModel: true, mode: { draft: "hello" } });
	await app.terminal.waitFor("no model");
	expect(await app.terminal.text()).not.toContain(QUESTION);
	await app.terminal.press("enter");
	await app.terminal.waitFor("/setup");
});
