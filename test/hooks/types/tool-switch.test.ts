import { expect, test } from "vitest";
import type { HookEventContext } from "../../../src/hooks/types.js";
import { startSession } from "../../helpers/session.js";
import { hook, share } from "../support.js";

/** Its command `with` calls the function `__with` with `ctx`; its tool is `shout`. */
const WITH = hook(`
	pi.command("with", { handler: (ctx) => { globalThis.__with(ctx); } });
	pi.tool({ name: "shout", description: "Shouts", parameters: { type: "object" }, run: async () => ({ content: [] }) });`);

async function start(options: Parameters<typeof startSession>[0] = {}) {
	const run = await startSession({ tools: ["read", "bash", "shout"], hooks: { "with.ts": WITH }, ...options });
	/** Runs `action` in the handler of a command. */
	const within = async (action: (ctx: HookEventContext) => void) => {
		share("__with", action);
		await run.session.prompt("/with");
	};
	/** Names of the tools in the next request. */
	const offered = async () => {
		run.provider.reply("ok");
		await run.session.prompt("hi");
		const body = JSON.stringify(run.provider.requests.at(-1)?.body.tools ?? []);
		return [...body.matchAll(/"function":\{"name":"(\w+)"/g)].map(([, name = ""]) => name);
	};
	return { ...run, within, offered };
}

test("ctx.tools lists all tools and the active ones, frozen, with their sources", async () => {
	const { within, agentDir, session } = await start();
	await session.prompt("/tools off bash");
	const seen: unknown[] = [];
	await within(({ tools }) => {
		seen.push(tools.all, tools.active);
		expect(Object.isFrozen(tools.all) && Object.isFrozen(tools.all[0]) && Object.isFrozen(tools)).toBe(true);
	});
	const infos = [
		{ name: "read", description: expect.any(String), parameters: expect.any(Object), source: "built-in" },
		{ name: "bash", description: expect.any(String), parameters: expect.any(Object), source: "built-in" },
		{ name: "shout", description: "Shouts", parameters: { type: "object" }, source: `${agentDir}/hooks/with.ts` },
	];
	expect(seen).toEqual([infos, [infos[0], infos[2]]]);
});

test("setActive counts from the next request on, and survives a reload", async () => {
	const { within, offered, session } = await start();
	expect(await offered()).toEqual(["read", "bash", "shout"]);
	await within(({ tools }) => tools.setActive(["shout", "read"]));
	expect(await offered()).toEqual(["read", "shout"]);
	await session.reload();
	expect(await offered()).toEqual(["read", "shout"]);
	expect(await session.prompt("/tools on bash")).toMatchObject({ status: "All tools are on" });
	expect(await offered()).toEqual(["read", "bash", "shout"]);
	await within(({ tools }) => tools.setActive([]));
	expect(await offered()).toEqual([]);
});

test.each<[string, unknown, string, string]>([
	["a name that no tool has", ["read", "shuot"], "tool_unknown", 'There is no tool "shuot"'],
	["a text", "read", "bad_arguments", "ctx.tools.setActive expects a list of tool names"],
	["a list of other values", ["read", 7], "bad_arguments", "ctx.tools.setActive expects a list of tool names"],
])("setActive refuses %s and changes nothing", async (_, names, code, message) => {
	const { within, offered } = await start();
	await within(({ tools }) => expect(() => tools.setActive(names as string[])).toThrow(message));
	await within(({ tools }) =>
		expect(() => tools.setActive(names as string[])).toThrow(expect.objectContaining({ code })),
	);
	expect(await offered()).toEqual(["read", "bash", "shout"]);
});

test("a context handler reads the tools of its event, and those of its context are refused", async () => {
	const { offered, notices } = await start({
		hooks: {
			"with.ts": WITH,
			"pure.ts": hook(`pi.on("context", (event, ctx) => { if (event.tools.length === 3) ctx.tools.setActive([]); });`),
		},
	});
	expect(await offered()).toEqual(["read", "bash", "shout"]);
	expect(notices().join("\n")).toContain(
		"ctx.tools cannot be used in a context handler: use event.tools, and return tools to offer fewer",
	);
});
