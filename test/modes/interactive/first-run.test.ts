import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startApp } from "./app.js";

const QUESTION = "pi has no model";
const OFFER = "What should be on?";

test("starting without a model offers ways to set one up", async () => {
	const app = await startApp({ withoutModel: true, mode: { startDemo: () => {} } });
	await app.terminal.waitFor(QUESTION);
	await expect(await app.terminal.text()).toMatchFileSnapshot("../../screens/first-run.txt");
});

test("the setup dialog fits a narrow screen", async () => {
	const app = await startApp({ withoutModel: true, columns: 40, mode: { startDemo: () => {} } });
	await app.terminal.waitFor(QUESTION);
	await expect(await app.terminal.text()).toMatchFileSnapshot("../../screens/first-run-40.txt");
});

test("a command that is typed into the setup dialog is answered", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.type("/login");
	await app.terminal.waitFor("nothing matches · commands can be typed after this dialog");
});

test("a pasted key is saved, and its provider's model is selected immediately", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("Which provider?");
	await app.terminal.type("openai");
	await app.terminal.waitFor("→ OpenAI ");
	await app.terminal.press("enter");
	await app.terminal.waitFor("API key for OpenAI");
	await app.terminal.paste(" sk-made-up-for-this-test \n");
	await app.terminal.press("enter");
	await app.terminal.waitFor(OFFER);
	await app.terminal.press("escape");
	await app.terminal.waitFor("model: openai");
	expect(existsSync(join(app.agentDir, "settings.json"))).toBe(false);
	expect(app.session().model?.provider).toBe("openai");
	expect(JSON.parse(readFileSync(join(app.agentDir, "auth.json"), "utf8"))).toEqual({
		openai: { type: "api_key", key: "sk-made-up-for-this-test" },
	});
	expect(app.terminal.output).not.toContain("sk-made-up");
});

/** Connects a model with a key. */
async function connect(app: Awaited<ReturnType<typeof startApp>>) {
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("down", "enter");
	await app.terminal.waitFor("Which provider?");
	await app.terminal.type("openai");
	await app.terminal.waitFor("→ OpenAI ");
	await app.terminal.press("enter");
	await app.terminal.waitFor("API key for OpenAI");
	await app.terminal.paste("sk-made-up-for-this-test");
	await app.terminal.press("enter");
}

test.each([40, 80, 120])(
	"at %i columns a new user is asked once about plan mode, questions and tasks",
	async (columns) => {
		const app = await startApp({ withoutModel: true, columns });
		await connect(app);
		await app.terminal.waitFor(OFFER);
		const rows = await app.terminal.screen();
		// Above it pi says why it could not try the key.
		const dialog = rows
			.slice(rows.findIndex((row) => row.includes(OFFER)))
			.join("\n")
			.trimEnd();
		await expect(`${dialog}\n`).toMatchFileSnapshot(`../../screens/first-run-offer-${columns}.txt`);
		await app.terminal.press("enter");
		await app.terminal.waitFor(/model:\s+openai/);
		expect(JSON.parse(readFileSync(join(app.agentDir, "settings.json"), "utf8"))).toMatchObject({
			...{ features: { tasks: true }, hooks: ["pi:plan-mode", "pi:question"] },
		});
		await app.terminal.press("shift+tab");
		await app.terminal.waitFor("plan mode");
		const names = app.session().loaded.hooks.map(({ path }) => path);
		expect(names).toEqual(expect.arrayContaining(["built-in/tasks", "pi:plan-mode", "pi:question"]));
	},
);

test("web pages and a guard are rows of the same question", async () => {
	const app = await startApp({ withoutModel: true });
	await connect(app);
	await app.terminal.waitFor(OFFER);
	await app.terminal.press("up", "space", "up", "space", "enter");
	await app.terminal.waitFor(/model:\s+openai/);
	expect(settingsOf(app)).toMatchObject({
		...{ features: { tasks: true }, hooks: ["pi:plan-mode", "pi:question", "pi:permissions", "pi:web"] },
	});
	expect(app.session().loaded.hooks.map(({ path }) => path)).toEqual(
		expect.arrayContaining(["pi:permissions", "pi:web"]),
	);
});

const settingsOf = ({ agentDir }: { agentDir: string }): unknown =>
	JSON.parse(readFileSync(join(agentDir, "settings.json"), "utf8"));

const HINT = "nothing asks before commands run";

test.each([40, 80])(
	"at %i columns, a new user whose key pi finds gets one line instead of the questions",
	async (columns) => {
		const app = await startApp({ columns, mode: { news: async () => "first" } });
		await app.terminal.waitFor(HINT);
		await expect(await app.terminal.text()).toMatchFileSnapshot(`../../screens/first-start-${columns}.txt`);
	},
);

test("a new user who was asked gets no such line", async () => {
	const app = await startApp({ withoutModel: true, mode: { news: async () => "first" } });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("escape");
	await app.terminal.waitFor("No model yet");
	await app.submit("/hotkeys");
	await app.terminal.waitFor("Key bindings");
	expect(await app.terminal.text()).not.toContain(HINT);
});

test("/setup of a user with a model offers the same, and keeps the hooks that are on", async () => {
	const app = await startApp({ agentSettings: { hooks: ["pi:notes", "-pi:question", "pi:web"], theme: "dark" } });
	await app.submit("/setup");
	await app.terminal.waitFor("What do you want to set up?");
	await app.terminal.type("plan");
	await app.terminal.press("enter");
	await app.terminal.waitFor(OFFER);
	// What is on is marked.
	await app.terminal.waitFor(/● Web pages/);
	expect(await app.terminal.text()).toMatch(/○ Plan mode/);
	await app.terminal.press("space", "down", "down", "space", "enter");
	await app.terminal.waitFor("On: plan mode, task list, web pages");
	expect(settingsOf(app)).toMatchObject({
		...{ features: { tasks: true }, hooks: ["pi:notes", "pi:plan-mode", "pi:web"] },
	});
});

test("/setup of a user with a model changes nothing when the extras are declined or canceled", async () => {
	const agentSettings = { hooks: ["pi:notes"], features: { tasks: true } };
	const app = await startApp({ agentSettings });
	await app.submit("/setup");
	await app.terminal.waitFor("What do you want to set up?");
	await app.terminal.type("plan");
	await app.terminal.press("enter");
	await app.terminal.waitFor(OFFER);
	await app.terminal.press("escape");
	await app.terminal.waitFor("What do you want to set up?");
	await app.terminal.type("plan");
	await app.terminal.press("enter");
	await app.terminal.waitFor(OFFER);
	await app.terminal.press("enter");
	await app.terminal.waitFor("Nothing was changed");
	expect(settingsOf(app)).toEqual(agentSettings);
});

test("no is saved, too", async () => {
	const app = await startApp({ withoutModel: true });
	await connect(app);
	await app.terminal.waitFor(OFFER);
	await app.terminal.press("space", "down", "space", "down", "space", "enter");
	await app.terminal.waitFor("model: openai");
	expect(JSON.parse(readFileSync(join(app.agentDir, "settings.json"), "utf8"))).toMatchObject({
		features: { tasks: false },
	});
});

test("a user with settings is not asked", async () => {
	const app = await startApp({ withoutModel: true, agentSettings: { gutter: false } });
	await connect(app);
	await app.terminal.waitFor("model: openai");
	expect(await app.terminal.text()).not.toContain(OFFER);
});

test("canceling a setup step returns to the dialog, and escape there shows how to reopen it", async () => {
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

test("when no local server responds, a message says so and the dialog remains open", async () => {
	const app = await startApp({ withoutModel: true });
	await app.terminal.waitFor(QUESTION);
	await app.terminal.type("local");
	await app.terminal.press("enter");
	await app.terminal.waitFor("No model server found on this machine");
	await app.terminal.waitFor(QUESTION);
	await app.terminal.press("escape");
});

test("choosing the demo quits this screen and starts the demo", async () => {
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

test("prompts from the command line wait for the setup", async () => {
	const app = await startApp({ withoutModel: true, mode: { prompts: [{ text: "why?" }] } });
	await app.terminal.waitFor(QUESTION);
	expect(await app.terminal.text()).not.toContain("why?");
	await app.terminal.press("escape");
	await app.terminal.waitFor("✗ No model is chosen");
});

test("a user who is already typing is not asked; sending the text shows how to set up a model", async () => {
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	const app = await startApp({ withoutModel: true, hold });
	await app.terminal.type("hello");
	release();
	await app.terminal.waitFor("no model");
	expect(await app.terminal.text()).not.toContain(QUESTION);
	await app.terminal.press("enter");
	await app.terminal.waitFor("/setup");
});
