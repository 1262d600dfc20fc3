import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HookAPI } from "../../src/hooks/types.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../src/sdk/create-session.js";
import { defineTool } from "../../src/tools/tool.js";
import { png } from "../helpers/images.js";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles, writeHook } from "../helpers/temp.js";

/** Starts a session as a program does: without the test helpers, in directories of its own. */
async function start(options: Partial<CreateAgentSessionOptions> = {}) {
	const provider = await startProvider();
	const agentDir = tempDir("pi-agent-");
	writeFiles(agentDir, { "models.json": provider.modelsJson() });
	const cwd = options.cwd ?? tempDir("pi-project-");
	const session = await createAgentSession({
		cwd,
		agentDir,
		home: tempDir("pi-home-"),
		env: { PATH: process.env.PATH },
		model: "loopback/scripted",
		session: { kind: "memory" },
		localServers: { ports: {} },
		...options,
	});
	onTestFinished(() => session.dispose());
	const notices: string[] = [];
	session.subscribe((event) => {
		if (event.type === "notice") notices.push(event.message);
		if (event.type === "hook_error") notices.push(`${event.hookPath} ${event.event}: ${event.error}`);
	});
	await session.start();
	return { session, provider, agentDir, cwd, notices };
}

/** Names of the tools in the first request. */
function offered({ provider }: Awaited<ReturnType<typeof start>>): string[] {
	const tools: { function: { name: string } }[] = Object(provider.requests[0]?.body).tools;
	return tools.map((tool) => tool.function.name);
}

const refused = (options: object) => start(options).catch(({ code, message }) => `${code}: ${message}`);

describe("options", () => {
	const choices = "must be one of new, continue, named, open, read, memory";
	test.each([
		[{ trust: "false" }, "trust must be true or false"],
		[{ trust: 0 }, "trust must be true or false"],
		[{ verbose: "no" }, "verbose must be true or false"],
		[{ session: "memory" }, "session must be an object with a kind"],
		[{ session: {} }, "session needs a valid kind"],
		[{ session: { kind: "memroy" } }, `session.kind ${choices}`],
		[{ session: { kind: "open" } }, "session.target is missing"],
		[{ session: { kind: "read" } }, "session.target is missing"],
		[{ session: { kind: "named" } }, "session.name is missing"],
		[{ session: { kind: "open", target: 7 } }, "session.target must be a non-empty string"],
		[{ session: { kind: "open", traget: "a" } }, "Unknown option session.traget · did you mean target?"],
		[{ thinkingLevel: "hgih" }, "thinkingLevel must be one of off, minimal, low, medium, high, xhigh, max"],
		[{ cwd: 5 }, "cwd must be a string"],
		[{ cwd: "/nonexistent" }, "cwd: there is no directory /nonexistent"],
		[{ cwd: "/a\0b" }, "cwd: there is no directory /a\0b"],
		[{ sessionDir: 5 }, "sessionDir must be a string"],
		[{ models: "zz*" }, "models must be a list of strings"],
		[{ tools: "read" }, "tools must be a list of strings"],
		[{ tools: ["read", 5] }, "tools[1] must be a string"],
		[{ systemPrompt: 5 }, "systemPrompt must be a string"],
		[{ model: 5 }, "model must be the name of a model, or a model"],
		[{ model: {} }, "model needs a valid id"],
		[{ extraModels: [{ id: 5 }] }, "extraModels[0].id must be a string"],
		[{ askTrust: true }, "askTrust must be a function"],
		[{ modle: "lab/small" }, "Unknown option modle · did you mean model?"],
		[{ parent: "session" }, "parent must be ctx.session of a hook"],
		[{ settings: [] }, "settings must be an object"],
	])("that are malformed are refused by name: %j", async (options, message) => {
		const creating = createAgentSession(Object(options)).catch((error) => error);
		const { code, message: text, hint } = await creating;
		expect([code, `${text} · ${hint}`]).toEqual(["bad_arguments", expect.stringContaining(message)]);
	});

	test.each([[null], [[]], ["lab/small"]])("that are no object are refused: %j", async (options) => {
		// A program without type checks.
		const create: (options: unknown) => Promise<unknown> = Object(createAgentSession);
		await expect(create(options)).rejects.toMatchObject({
			code: "bad_arguments",
			message: "The options must be an object",
		});
	});

	test("that are undefined count as omitted", async () => {
		const { session, provider } = await start({ tools: undefined, settings: Object({ theme: undefined }) });
		provider.reply("ok");
		expect(await session.prompt("hi")).toMatchObject({ kind: "run" });
	});
});

describe("setModel", () => {
	test("accepts a model, and a name as the option model does", async () => {
		const { session } = await start();
		const [first, other] = await session.controls.availableModels();
		if (!first || !other) throw new Error("two models are expected");
		await session.setModel(other);
		expect(session.model).toBe(other);
		await session.setModel("loopback/scripted:high");
		expect([session.model, session.thinkingLevel]).toEqual([first, "high"]);
	});

	test.each([
		["lab/unknown", "model_unknown", `No model "lab/unknown"`],
		[undefined, "bad_arguments", "model must be an object"],
		[{ id: "small", provider: "lab" }, "bad_arguments", "model needs a valid name"],
	])("refuses %j and keeps the model", async (model, code, message) => {
		const { session, provider } = await start();
		await expect(Object(session).setModel(model)).rejects.toMatchObject({ code, message });
		expect(session.model?.id).toBe("scripted");
		provider.reply("ok");
		expect(await session.prompt("hi")).toMatchObject({ outcome: { last: { stopReason: "stop" } } });
	});
});

test("setThinkingLevel refuses an unknown level and keeps the level", async () => {
	const { session } = await start({ thinkingLevel: "low" });
	expect(() => session.setThinkingLevel(JSON.parse('"zzz"'))).toThrow("thinkingLevel must be one of off, minimal");
	expect(session.thinkingLevel).toBe("low");
});

describe("prompts", () => {
	test.each(["prompt", "send", "followUp"] as const)("%s refuses what is empty or no string", async (method) => {
		const { session, provider } = await start();
		for (const text of ["", " \n\t"]) {
			await expect(session[method](text)).rejects.toMatchObject({
				code: "bad_arguments",
				message: "The prompt is empty",
			});
		}
		for (const value of [undefined, 5, {}]) {
			await expect(Object(session)[method](value)).rejects.toMatchObject({
				code: "bad_arguments",
				message: "The prompt must be a string",
			});
		}
		expect(provider.requests).toEqual([]);
		expect(session.entries).toHaveLength(1);
	});

	test("may have an image and no text", async () => {
		const { session, provider } = await start();
		provider.reply("seen");
		expect(await session.prompt(" ", { images: [png(2, 2)] })).toMatchObject({ kind: "run" });
		expect(session.entries).toContainEqual(
			expect.objectContaining({
				message: expect.objectContaining({ role: "user", content: [expect.objectContaining({ type: "image" })] }),
			}),
		);
	});
});

describe("hooks", () => {
	test("may be paths and functions, which run in the order of the list", async () => {
		const file = writeHook(
			tempDir(),
			"file.ts",
			`export default (pi) => pi.on("prompt", (event) => ({ text: event.text + " file" }));`,
		);
		const first = (pi: HookAPI) => pi.on("prompt", ({ text }) => ({ text: `${text} first` }));
		const last = (pi: HookAPI) => pi.on("prompt", ({ text }) => ({ text: `${text} last` }));
		const { session, provider } = await start({ hooks: [first, file, last] });
		provider.reply("ok");
		await session.prompt("hi");
		expect(provider.requests[0]?.messages.at(-1)?.text).toBe("hi first file last");
		expect(session.loaded.hooks.filter(({ scope }) => scope !== "bundled")).toEqual([
			{ path: "inline:first", name: "first", scope: "inline" },
			{ path: file, name: "file", scope: "flag" },
			{ path: "inline:last", name: "last", scope: "inline" },
		]);
	});

	test("without a name get different names", async () => {
		const { session } = await start({ hooks: [() => {}, () => {}], bundledHooks: false });
		expect(session.loaded.hooks.map(({ path }) => path)).toEqual(["inline:hook", "inline:hook-2"]);
	});

	test("that are functions may use every handle without a grant", async () => {
		const items = (pi: HookAPI) => {
			pi.requires("systemItems");
			pi.command("say", {
				handler(ctx) {
					ctx.systemItems?.append({ kind: "notification", text: "hi" });
					return { status: "said" };
				},
			});
		};
		const { session, notices } = await start({ hooks: [items] });
		expect(notices).toEqual([]);
		expect(await session.prompt("/say")).toEqual({ kind: "command", status: "said" });
	});

	test("that fail are named in the warnings, and the others load", async () => {
		const broken = () => {
			throw new Error("no luck");
		};
		const { session } = await start({ hooks: [broken, "missing.ts", function works() {}], bundledHooks: false });
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["works"]);
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(/^Hook missing\.ts cannot be read: /),
			"Hook inline:broken did not load: no luck",
		]);
	});

	test("that are named and cannot be used end the start, if the program requires them", async () => {
		const broken = writeHook(tempDir(), "broken.ts", "export default {");
		const code = "bad_arguments";
		for (const hooks of [["missing.ts"], [broken], ["pi:nope"]]) {
			await expect(start({ hooks, requireNamed: true })).rejects.toMatchObject({ code });
		}
		// Also one that is found where hooks are searched.
		const cwd = tempDir();
		writeFiles(cwd, { ".pi/hooks/guard.ts": "export default {" });
		const hooks = [".pi/hooks/guard.ts"];
		await expect(start({ cwd, trust: true, hooks, requireNamed: true })).rejects.toMatchObject({ code });
		const { session } = await start({ cwd, trust: true, requireNamed: true });
		expect(session.loaded.warnings).toEqual([expect.stringContaining("guard.ts")]);
	});

	test("run again after a reload, and only the new registrations remain", async () => {
		let loads = 0;
		const count = (pi: HookAPI) => {
			loads++;
			pi.command(`count-${loads}`, { handler: () => {} });
		};
		const { session } = await start({ hooks: [count] });
		await session.reload();
		expect(session.palette().flatMap(({ name }) => (name.startsWith("count") ? [name] : []))).toEqual(["count-2"]);
	});

	test("of another type are refused", async () => {
		expect(await refused({ hooks: ["a.ts", 42] })).toBe(
			"bad_arguments: hooks[1] must be the path of a hook file, pi:name, or a function that receives pi",
		);
	});
});

describe("extraTools", () => {
	const shout = defineTool({
		name: "shout",
		description: "Returns the text in capitals",
		parameters: Type.Object({ text: Type.String() }),
		run: async ({ text }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }),
	});

	test("are offered along with the built-in tools, and run", async () => {
		const started = await start({ extraTools: [shout], tools: ["read"] });
		const { session, provider } = started;
		provider.reply([toolCall("shout", { text: "hi" })], "done");
		await session.prompt("shout");
		expect(offered(started)).toEqual(["read", "shout"]);
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("HI");
	});

	test("replace built-in tools of the same name", async () => {
		const started = await start({ extraTools: [{ ...shout, name: "read" }], tools: ["read", "ls"] });
		const { session, provider } = started;
		provider.reply([toolCall("read", { text: "hi" })], "done");
		await session.prompt("read");
		expect(offered(started)).toEqual(["ls", "read"]);
		expect(provider.requests[1]?.messages.at(-1)?.text).toBe("HI");
	});

	test("answer the model with an error if their result is malformed", async () => {
		const tool = { ...shout, run: async () => Object({ content: "text" }) };
		const { session, provider } = await start({ extraTools: [tool] });
		provider.reply([toolCall("shout", { text: "hi" })], "done");
		await session.prompt("shout");
		expect(provider.requests[1]?.messages.at(-1)?.text).toMatch(/^The tool "shout" did not return/);
	});

	test.each([
		[[{ ...shout, name: "a b" }], /^bad_arguments: extraTools\[0\]: "a b" is not a valid tool name/],
		[[shout, { ...shout, run: 1 }], /^bad_arguments: extraTools\[1\]: there is another tool shout$/],
		[[{ ...shout, run: 1 }], /^bad_arguments: extraTools\[0\]: run of the tool shout is not a function$/],
		[[null], /^bad_arguments: extraTools\[0\]: /],
	])("that are malformed are refused: %#", async (extraTools, message) => {
		expect(await refused({ extraTools })).toMatch(message);
	});
});

describe("settings", () => {
	test("override those of the files, for this session only", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { ".pi/settings.json": { defaultThinkingLevel: "low" } });
		const { session, agentDir } = await start({
			cwd,
			settings: { defaultThinkingLevel: "high", retry: { maxRetries: 7 }, hooks: ["-pi:fold"] },
		});
		expect(session.settings.defaultThinkingLevel).toBe("high");
		expect(session.settings.retry).toEqual({ enabled: true, maxRetries: 7, baseDelayMs: 2000 });
		expect(session.loaded.hooks.map(({ path }) => path)).toEqual(["pi:pin", "pi:stacking"]);
		expect(existsSync(join(agentDir, "settings.json"))).toBe(false);
		await session.reload();
		expect(session.settings.retry.maxRetries).toBe(7);
	});

	test.each([
		[{ hookTimout: 5 }, "settings: hookTimout is unknown · did you mean hookTimeout?"],
		[{ retry: { maxRetries: "7" } }, "settings: retry.maxRetries must be a whole number from 0 to 100"],
		[{ theme: "" }, "settings: theme must be a non-empty string"],
	])("%j are refused", async (settings, message) => {
		expect(await refused({ settings })).toBe(`bad_arguments: ${message}`);
	});
});

describe("trust", () => {
	const project = () => {
		const cwd = tempDir();
		writeFiles(cwd, { ".pi/hooks/own.ts": `export default (pi) => pi.command("own", { handler: () => {} });` });
		return cwd;
	};
	const runs = ({ session }: Awaited<ReturnType<typeof start>>) => session.palette().some(({ name }) => name === "own");

	test("true runs the project's code, and stores nothing", async () => {
		const started = await start({ cwd: project(), trust: true });
		expect(runs(started)).toBe(true);
		expect(existsSync(join(started.agentDir, "trust.json"))).toBe(false);
	});

	test("false does not run it even if the user trusts it, asks nobody and reports nothing", async () => {
		const cwd = project();
		const first = await start({ cwd, askTrust: async () => "trust" });
		expect(runs(first)).toBe(true);
		const { agentDir } = first;
		const options = { cwd, agentDir, env: { PATH: "" } };
		const again = await start(options);
		expect(runs(again)).toBe(true);
		const refused = await start({ ...options, trust: false, askTrust: async () => "trust" });
		expect(runs(refused)).toBe(false);
		expect(refused.session.loaded.warnings).toEqual([]);
	});
});

test("a session in memory with rememberModel: false leaves no file", async () => {
	const { session, provider, agentDir, cwd } = await start({
		hooks: [function note() {}],
		settings: { rememberModel: false },
	});
	writeFileSync(join(cwd, "a.txt"), "content");
	const before = readdirSync(agentDir);
	provider.reply([toolCall("read", { path: "a.txt" })], "done");
	await session.prompt("read it");
	expect(session.sessionFile).toBeNull();
	expect(session.entries.length).toBeGreaterThan(3);
	await session.dispose();
	expect(readdirSync(agentDir)).toEqual(before);
});

test.each([
	["no", "images must be a list of images"],
	[["x"], "images[0] must be an object"],
	[[{ type: "image", data: 5, mimeType: "image/png" }], "images[0].data must be a string"],
	[[{ type: "image", mimeType: "image/png" }], "images[0] needs a valid data"],
])("a prompt with the images %j is refused, and nothing is sent", async (images, message) => {
	const { session } = await startSession();
	const malformed = { images: images as never };
	for (const sent of [session.prompt("x", malformed), session.send("x", malformed), session.followUp("x", malformed)])
		await expect(sent).rejects.toMatchObject({ code: "bad_arguments", message });
});

test("a session leaves the methods of console as the program had them", async () => {
	const names = ["log", "info", "debug", "warn", "error", "dir"] as const;
	const methods = () => names.map((name) => console[name]);
	const before = methods();
	const hook = (pi: HookAPI) => pi.on("session", () => {});
	const { session, provider } = await start({ hooks: [hook], extensions: [] });
	await session.start();
	provider.reply("hi");
	await session.prompt("go");
	const meanwhile = methods();
	await session.dispose();
	expect([meanwhile, methods()].map((list) => list.every((method, at) => method === before[at]))).toEqual([true, true]);
});
