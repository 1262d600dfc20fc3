import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandShell } from "../../src/commands/command.js";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

/** A provider with its own wire format, which answers with the key, the system prompt and the tools that it got. */
const LAB = `
import { createAssistantMessageEventStream, getCurrentSystemPrompt, getCurrentTools } from "@earendil-works/pi-ai";
export default (pi) => pi.registerProvider("lab", {
	name: "Lab", baseUrl: "https://lab.invalid", apiKey: "$LAB_TOKEN", api: "lab-api",
	models: [{ id: "m", name: "M", api: "lab-api", reasoning: false, input: ["text"], contextWindow: 100_000, maxTokens: 100,
		cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, tiers: [] }, thinkingLevelMap: undefined, promptCache: {} }],
	oauth: {
		name: "Lab",
		async login({ onAuth, onPrompt, onSelect, onProgress, signal }) {
			onAuth({ url: "https://lab.invalid/login", instructions: "Open" });
			const plan = await onSelect({ message: "Plan?", options: [{ id: "big", label: "Big" }] });
			const code = await onPrompt({ message: "Code?" });
			onProgress("almost");
			return { access: plan + " " + code + " " + signal.aborted, refresh: "r1", expires: Date.now() - 1 };
		},
		refreshToken: async ({ refresh }) => ({ access: "renewed with " + refresh, refresh: "r2", expires: Date.now() + 3_600_000 }),
		getApiKey: ({ access }) => "key: " + access,
	},
	streamSimple(model, context, options) {
		const events = createAssistantMessageEventStream();
		const tools = getCurrentTools(context.messages).length > 0;
		const text = [model.api, options.apiKey, getCurrentSystemPrompt(context.messages).slice(0, 3), tools].join(" | ");
		events.push({ type: "done", reason: "stop", message: { role: "assistant", content: [{ type: "text", text }], api: model.api,
			provider: model.provider, model: model.id, stopReason: "stop", timestamp: 1,
			usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } } } });
		return events;
	},
});`;

async function startLab(env: Record<string, string> = {}) {
	const dir = tempDir();
	writeFiles(dir, { "lab.ts": LAB });
	const started = await startSession({ extensions: [join(dir, "lab.ts")], env, model: "lab/m" });
	const say = async () => {
		await started.session.prompt("hi");
		const reply = started.session.entries.findLast(
			(entry) => isMessageEntry(entry) && entry.message.role === "assistant",
		);
		return isMessageEntry(reply) ? messageText(reply.message) : "";
	};
	return { ...started, say };
}

test("a provider of an extension may have its own wire format, a key in a variable, and a streamSimple", async () => {
	const { say, session } = await startLab({ LAB_TOKEN: "from-env" });
	expect(await say()).toBe("lab-api | from-env | You | true");
	expect(session.model).toMatchObject({ api: "lab-api", cost: { input: 1, output: 2 } });
});

test("users log in to a provider of an extension, whose tokens are kept and renewed", async () => {
	const { session, say, agentDir } = await startLab();
	await expect(session.prompt("hi")).rejects.toMatchObject({ code: "key_missing" });
	const pages: string[][] = [];
	const shell: CommandShell = {
		copy: async () => {},
		setEditorText: () => {},
		secret: async () => null,
		quit: () => {},
		hotkeys: () => [],
		show: (title, lines) => {
			pages.push([title, ...lines]);
			return () => {};
		},
	};
	const select = async (title: string, options: readonly { label: string; value: unknown }[]) => {
		if (title.startsWith("Waiting for")) return new Promise(() => {});
		return options.find(({ label }) => ["Lab", "Big"].includes(label))?.value ?? null;
	};
	const ui: SessionUI = {
		select: select as SessionUI["select"],
		confirm: async () => false,
		input: async () => "the code",
		notify: () => {},
	};
	session.attachUI(ui, shell);
	expect(await session.prompt("/login")).toMatchObject({ status: expect.stringContaining("Lab") });
	expect(pages).toEqual([["Log in to Lab", "Open", "https://lab.invalid/login"]]);
	const stored = () => JSON.parse(readFileSync(join(agentDir, "auth.json"), "utf8")).lab;
	expect(stored()).toMatchObject({ type: "oauth", access: "big the code false", refresh: "r1" });
	expect(await say()).toBe("lab-api | key: renewed with r1 | You | true");
	expect(stored()).toMatchObject({ access: "renewed with r1", refresh: "r2" });
});

test.each([
	["login: 7", "login must be an object"],
	[
		'login: { name: "", login() {} }',
		"login.name must be a text; login.refresh must be a function; login.apiKey must be a function",
	],
])("pi.provider refuses %s", async (field, reason) => {
	const { session } = await startSession({
		hooks: {
			"lab.ts": `export default (pi) => pi.provider("lab", { baseUrl: "http://127.0.0.1:1", api: "openai-completions", models: [], ${field} });`,
		},
	});
	expect(session.loaded.warnings.join("\n")).toContain(reason);
});
