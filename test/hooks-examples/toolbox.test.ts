import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { type LoopbackApi, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("toolbox.ts");
const readFlags = () => ({ values: { toolbox: "ls, find" }, problem: null });
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Lets the model open the box for `ls`, call it, and answer. */
async function open(options: TestSessionOptions & { api?: LoopbackApi }) {
	const { api = "openai-completions", ...rest } = options;
	const model = `${api === "openai-responses" ? "loopback-responses" : "loopback"}/scripted`;
	const pi = await startSession({ hookFiles: [HOOK], session: { kind: "new" }, readFlags, model, ...rest });
	pi.provider.reply(
		[toolCall("open_toolbox", {})],
		[toolCall("open_toolbox", { names: ["ls", "read"] })],
		[toolCall("ls", {})],
		"done",
		"still",
	);
	await pi.session.prompt("look around");
	await pi.session.prompt("and?");
	const path = pi.session.sessionFile ?? "";
	await pi.session.dispose();
	const flags = { agentDir: pi.agentDir, cwd: pi.cwd, session: path, hooks: [HOOK] };
	const verified = await run({ name: "context", verify: true }, flags);
	return { ...pi, bodies: pi.provider.requests.map(({ body }) => body), verified: verified.stdout };
}

/** The names of the tools of a request, as all wire formats have them. */
function toolsOf(body: Record<string, unknown>): string[] {
	const tools = Array.isArray(body.tools) ? body.tools.filter(isObject) : [];
	return tools.map((tool) => String(isObject(tool.function) ? tool.function.name : tool.name));
}

test("the model gets a tool of the box when it asks for it, and can call it", async () => {
	const { sent, bodies, verified } = await open({ files: { "a.txt": "" } });
	expect(sent(2).at(-1)).toBe(
		"tool: find: Find files by name or path.\nls: List a directory, one name per line, sorted, including hidden entries.",
	);
	expect(sent(3).at(-1)).toBe("tool: You can now call ls.");
	expect(sent(4).at(-1)).toBe("tool: a.txt");
	expect(bodies.map((body) => toolsOf(body).includes("ls"))).toEqual([false, false, true, true, true]);
	expect(bodies.map((body) => toolsOf(body).includes("find"))).toEqual(Array(5).fill(false));
	expect(verified).toBe("All 5 requests match the recorded ones\n");
});

test.each([
	["openai-responses", { supportsMidConvoSystemMessages: true, supportsAdditionalTools: true }, "additional_tools"],
	["openai-completions", { supportsMidConvoSystemMessages: true, supportsMidConvoToolAdditions: true }, '"tools"'],
] as const)(
	"%s: a model that takes tools in mid-conversation gets them there, and each request begins like the one before",
	async (api, compat, block) => {
		const pi = await open({ api, modelOptions: { apis: [api], compat } });
		const { bodies, verified } = pi;
		const lists = bodies.map((body) => JSON.stringify(body.messages ?? body.input));
		expect(lists.map((list) => list.includes(block))).toEqual([false, false, true, true, true]);
		// Each message without the marks of what to cache, which move.
		const messages = bodies.map((body) => {
			const list = (body.messages ?? body.input) as unknown[];
			return list.map((message) => JSON.stringify(message).replace(/,"cache_control":\{[^}]*\}/g, ""));
		});
		for (const [at, list] of messages.slice(1).entries())
			expect(list.slice(0, messages[at]?.length)).toEqual(messages[at]);
		expect(verified).toBe("All 5 requests match the recorded ones\n");
	},
);

test("without the flag no tool is hidden, and the box is not offered", async () => {
	const { session, provider } = await startSession({ hookFiles: [HOOK] });
	provider.reply("hello");
	await session.prompt("hi");
	const tools = toolsOf(provider.requests[0]?.body ?? {});
	expect(tools).toContain("ls");
	expect(tools).not.toContain("open_toolbox");
});
