import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelUpdates } from "../../../../src/commands/pickers.js";
import { PiError } from "../../../../src/errors.js";
import { Credentials } from "../../../../src/models/credentials.js";
import type { KnownModel } from "../../../../src/models/model-facts.js";
import { ModelLists } from "../../../../src/models/model-lists.js";
import { ModelRegistry } from "../../../../src/models/models.js";
import { createModelPicker } from "../../../../src/modes/interactive/dialogs/model-picker.js";
import { createModelOffers } from "../../../../src/services/models/session-models.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { model } from "../../../helpers/model.js";
import { tempDir } from "../../../helpers/temp.js";
import { startApp } from "../app.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
const price = (input: number, output: number) => ({ cost: { input, output, cacheRead: 0, cacheWrite: 0 } });
const both = { input: ["text" as const, "image" as const] };

const MODELS = [
	model("anthropic", "claude-opus-4-7", { ...both, ...price(5, 25), reasoning: true, contextWindow: 1_000_000 }),
	model("anthropic", "claude-sonnet-4-6", { ...both, ...price(3, 15), reasoning: true, contextWindow: 200_000 }),
	model("openai", "gpt-5.5", { ...both, ...price(1.25, 10), reasoning: true, contextWindow: 400_000 }),
	model("openrouter", "moonshotai/kimi-k2.6:free", { reasoning: true, contextWindow: 262_144 }),
	model("demo", "scripted", { contextWindow: 200_000 }),
	model("anthropic", "unpriced", { contextWindow: 200_000 }),
	{ ...model("ollama", "gemma2:9b", { contextWindow: 8192 }), tools: false },
];

interface OpenOptions {
	ports?: { ollama?: number };
	updates?: ModelUpdates;
	more?: KnownModel[];
}

function open({ ports = {}, updates, more = [] }: OpenOptions = {}) {
	const credentials = new Credentials({
		authFile: join(tempDir(), "auth.json"),
		env: { ANTHROPIC_API_KEY: "sk-ant-0123456789" },
		home: "/nowhere",
	});
	const registry = new ModelRegistry(new ModelLists().with([...MODELS, ...more]), credentials, {
		isPriced: ({ id }) => id !== "unpriced",
	});
	const models = {
		...createModelOffers({ registry, credentials, local: { ports, timeoutMs: 5000 } }),
		...(updates && { updates }),
	};
	const chosen: unknown[] = [];
	const closed = new AbortController();
	let drawn = () => {};
	const nextDraw = new Promise<void>((resolve) => {
		drawn = resolve;
	});
	const picker = createModelPicker(look, {
		models,
		current: MODELS[1] ?? null,
		signal: closed.signal,
		requestRender: drawn,
		onClose: (choice) => chosen.push(choice && [choice.model.id, choice.thinkingLevel]),
	});
	const type = (text: string) => {
		for (const key of text) picker.handleInput(key);
	};
	return {
		registry,
		picker,
		chosen,
		closed,
		nextDraw,
		type,
		screen: (width: number) => `${picker.render(width).join("\n")}\n`,
	};
}

describe("the picker", () => {
	test.each([120, 80, 40])("shows price, features and key of each model, at %d columns", async (width) => {
		const { screen, nextDraw } = open();
		await nextDraw;
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/model-picker-${width}.txt`);
	});

	describe("with a list that can be updated", () => {
		const updatable = (update: ModelUpdates["update"], age = "updated 3 days ago"): ModelUpdates => ({
			age: () => age,
			update,
			addServer: async () => "",
			updateWeekly: async () => {},
			weekly: null,
		});

		test.each([120, 80, 40])("shows its age, and progress and failures of an update, at %d columns", async (width) => {
			const step = { onStep: (_: { left: number }) => {}, finish: (_: string) => {} };
			const { registry, picker, nextDraw, screen } = open({
				updates: updatable((onStep) => {
					step.onStep = onStep;
					onStep({ left: 2 });
					return new Promise((resolve) => {
						step.finish = resolve;
					});
				}),
			});
			await nextDraw;
			await expect(screen(width)).toMatchFileSnapshot(`../../../screens/model-picker-age-${width}.txt`);
			picker.handleInput("\x12");
			expect(screen(width)).toContain("asking 2 providers for models …");
			step.onStep({ left: 1 });
			expect(screen(width)).toContain("asking 1 provider for models …");
			const next = { relative: "claude-opus-4-7", ...both, ...price(6, 24), reasoning: true, contextWindow: 2_000_000 };
			registry.registerModels([model("anthropic", "claude-opus-6", next)]);
			step.finish("1 new, 0 retired · openai failed: api.openai.com answered 401: the key is not accepted");
			await expect.poll(() => screen(width)).toContain("1 new, 0 retired");
			await expect(screen(width)).toMatchFileSnapshot(`../../../screens/model-picker-updated-${width}.txt`);
		});

		test.each([80, 30])("shows its age and which providers failed, at %d columns", async (width) => {
			const age = "updated 16 days ago · anthropic failed";
			const report = "0 new, 0 retired · anthropic, openai failed · anthropic: api.anthropic.com answered 500";
			const { picker, screen, nextDraw } = open({ updates: updatable(async () => report, age) });
			await nextDraw;
			const words = () => screen(width).replaceAll(/\s+/g, " ");
			expect(words()).toContain(`Which model? · 5 of 7 usable · ${age}`);
			picker.handleInput("\x12");
			await expect.poll(words).toContain("0 new, 0 retired · anthropic, openai failed");
		});

		test("says why it cannot be updated", async () => {
			const { picker, screen, nextDraw } = open({
				updates: updatable(() =>
					Promise.reject(new PiError("command_failed", "Offline: the list of models cannot be updated")),
				),
			});
			await nextDraw;
			picker.handleInput("\x12");
			await expect.poll(() => screen(120)).toContain("Offline: the list of models cannot be updated");
		});
	});

	test.each([
		["kimi", ["moonshotai/kimi-k2.6:free", undefined]],
		["anth opus", ["claude-opus-4-7", undefined]],
		["sonnet:high", ["claude-sonnet-4-6", "high"]],
		["sonnet:hi", ["claude-sonnet-4-6", undefined]],
		["kimi-k2.6:free", ["moonshotai/kimi-k2.6:free", undefined]],
		["kimi-k2.6:free:low", ["moonshotai/kimi-k2.6:free", "low"]],
		["no key gpt", ["gpt-5.5", undefined]],
		["tools scripted", ["scripted", undefined]],
	])("parses %j into a model and a level like the command line", (typed, expected) => {
		const { type, chosen } = open();
		type(`${typed}\r`);
		expect(chosen).toEqual([expected]);
	});

	test.each([120, 80, 40])("says what a selected model costs per million tokens, at %d columns", async (width) => {
		const { picker, type, nextDraw } = open();
		await nextDraw;
		const details = () => {
			const lines = picker.render(width);
			const from = lines.findLastIndex((line) => / (key|local)$/.test(line)) + 1;
			const to = lines.findIndex((line) => / filter by |^ enter /.test(line));
			return lines.slice(from, to).join("");
		};
		expect(details()).toBe(" claude-sonnet-4-6 · 200k context · $3 in, $15 out per M tokens");
		type("unpriced");
		expect(details()).toBe(" unpriced · 200k context · price unknown");
	});

	test.each([
		["vision", ["claude-opus-4-7", "claude-sonnet-4-6", "gpt-5.5"]],
		["vision <$5", ["claude-sonnet-4-6", "gpt-5.5"]],
		["<2", ["scripted", "gemma2:9b", "gpt-5.5", "moonshotai/kimi-k2.6:free"]],
		["vision <$", ["claude-opus-4-7", "claude-sonnet-4-6", "gpt-5.5"]],
		["thinking 400k", ["claude-opus-4-7", "gpt-5.5"]],
		["1m", ["claude-opus-4-7"]],
		["8k local", ["scripted", "gemma2:9b"]],
		["local tools", ["scripted"]],
		["free", ["scripted", "gemma2:9b", "moonshotai/kimi-k2.6:free"]],
		["free thinking:high", ["moonshotai/kimi-k2.6:free"]],
		["tools sonnet", ["claude-sonnet-4-6"]],
		["openai vision", ["gpt-5.5"]],
		["vision nothing", []],
	])("finds models by %j", (typed, expected) => {
		const { type, screen } = open();
		type(typed);
		const rows = screen(120).split("\n");
		expect(rows.flatMap((row) => /^ [→ ] [● ] [^\s/]+\/(\S+)/.exec(row)?.[1] ?? [])).toEqual(expected);
	});

	test.each([120, 80, 40])("marks retired models and lists them after the others, at %d columns", async (width) => {
		const retired: KnownModel = { ...model("anthropic", "claude-opus-4-8", price(5, 25)), retired: true };
		const { type, screen, nextDraw, chosen } = open({ more: [retired] });
		await nextDraw;
		type("opus");
		const rows = () =>
			screen(width)
				.split("\n")
				.filter((row) => /\/claude-opus/.test(row));
		expect(rows()).toEqual([expect.stringMatching(/^ → .*opus-4-7/), expect.stringMatching(/opus-4-8 .*retired$/)]);
		type(" 8\r");
		expect(chosen).toEqual([]);
	});

	test.each([80, 60])("has the same columns whatever is typed, and names that differ, at %d columns", async (width) => {
		const long = ["alpha", "beta"].map((name) => model("openrouter", `a-maker/a-model-with-a-very-long-name-${name}`));
		const { type, screen, nextDraw } = open({ more: long });
		await nextDraw;
		const row = (name: RegExp) =>
			screen(width)
				.split("\n")
				.find((line) => name.test(line)) ?? "";
		const before = row(/ demo\/scripted/);
		type("scripted");
		expect(row(/ demo\/scripted/).slice(3)).toBe(before.slice(3));
		type("\x15long");
		expect([row(/…\S*alpha/), row(/…\S*beta/)]).not.toContain("");
	});

	test.each([120, 80, 40])("explains what can be typed until something is, at %d columns", async (width) => {
		const { type, screen, nextDraw } = open();
		await nextDraw;
		const hint = /filter by name, vision, thinking, tools, local, free, <\$1, 200k/;
		expect(screen(width).replaceAll(/\s+/g, " ")).toMatch(hint);
		type("x");
		expect(screen(width).replaceAll(/\s+/g, " ")).not.toMatch(hint);
		type("\x7f");
		expect(screen(width).replaceAll(/\s+/g, " ")).toMatch(hint);
	});

	test.each([120, 80, 40])("marks a model that cannot call tools, at %d columns", async (width) => {
		const { type, screen, nextDraw } = open();
		await nextDraw;
		type("gemma");
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/model-picker-no-tools-${width}.txt`);
	});

	test("shows the typed level", () => {
		const { type, screen } = open();
		type("opus:high");
		expect(screen(80)).toContain("\n thinking: high\n");
		type("\x7f");
		expect(screen(80)).not.toContain("thinking");
	});

	test("searches for local servers in the background and keeps the selection", async () => {
		let answer = () => {};
		const server = createServer(({ url }, response) => {
			if (url !== "/v1/models") return void response.writeHead(404).end();
			answer = () => response.end(JSON.stringify({ data: [{ id: "qwen3:8b" }] }));
			asked();
		});
		let asked = () => {};
		const isAsked = new Promise<void>((resolve) => {
			asked = resolve;
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => void server.close());
		const address = server.address();
		const ollama = typeof address === "object" && address ? address.port : 0;
		const { screen, nextDraw, type, chosen } = open({ ports: { ollama } });
		await isAsked;
		expect(screen(80)).toContain("looking for local servers");
		expect(screen(80)).not.toContain("qwen3");
		answer();
		await nextDraw;
		expect(screen(80)).not.toContain("looking for local servers");
		expect(screen(80)).toMatch(/ollama\/qwen3:8b +4k +free +local/);
		type("\r");
		expect(chosen).toEqual([["claude-sonnet-4-6", undefined]]);
	});

	test("stops searching when it is closed", async () => {
		const server = createServer(() => {}); // never answers
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		onTestFinished(() => {
			server.closeAllConnections();
			server.close();
		});
		const address = server.address();
		const { closed, picker } = open({
			ports: { ollama: typeof address === "object" && address ? address.port : 0 },
		});
		const hungUp = new Promise((resolve) => server.on("connection", (socket) => socket.once("close", resolve)));
		closed.abort();
		await hungUp;
		expect(picker.note?.text).toContain("looking");
	});
});

describe("/model", () => {
	test("opens with Ctrl+L over a draft, which is restored afterwards", async () => {
		const { terminal, session } = await startApp({ rows: 30, modelOptions: { reasoning: true } });
		await terminal.waitFor("0%");
		await terminal.type("half a thought");
		await terminal.press("ctrl+l");
		await terminal.waitFor("Which model?");
		await terminal.type("loopback:low");
		await terminal.press("enter");
		await terminal.waitFor("thinking: low");
		expect(await terminal.text()).toContain("half a thought");
		expect(session().thinkingLevel).toBe("low");
	});

	test("asks for a missing key, warns about one that looks wrong, and then sets the model", async () => {
		const { terminal, session, submit } = await startApp({ rows: 30 });
		await terminal.waitFor("0%");
		await submit("/model groq/openai/gpt-oss-120b");
		await terminal.waitFor("API key for Groq");
		await terminal.paste("  sk-ant-\n0123456789 ");
		await terminal.press("enter");
		await terminal.waitFor("it looks like a key of Anthropic");
		await terminal.press("escape");
		await terminal.waitFor((screen) => !screen.join("").includes("Save this API key?"));
		expect(session().model?.provider).toBe("loopback");
		await submit("/model groq/openai/gpt-oss-120b");
		await terminal.waitFor("API key for Groq");
		await terminal.paste("gsk_0123456789ab\n");
		expect(await terminal.text()).not.toContain("gsk_");
		await terminal.press("enter");
		await terminal.waitFor("Model: groq/openai/gpt-oss-120b");
		expect(session().model?.provider).toBe("groq");
	});

	test("suggests the nearest model for an unknown name", async () => {
		const { terminal, submit } = await startApp();
		await terminal.waitFor("0%");
		await submit("/model scriptd");
		await terminal.waitFor(/No model "scriptd" · did you mean \S+\/scripted/);
	});
});
