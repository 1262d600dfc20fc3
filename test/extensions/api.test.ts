import { expect, test } from "vitest";
import { toolCall } from "../../src/testing/index.js";
import { tryExtension } from "./try-extension.js";

test("setActiveTools ignores a tool that does not exist with one notice, and a tool that joins later is on", async () => {
	const t = await tryExtension(
		`
		const names = ["read", "later"];
		pi.registerCommand("only", { handler: async () => { pi.setActiveTools(names); pi.setActiveTools(names); } });
		pi.registerCommand("join", { handler: async () => {
			pi.registerTool({ name: "later", description: "d", parameters: { type: "object" }, execute: async () => ({ content: [] }) });
		} });
		`,
		{ replies: ["one", "two"] },
	);
	await t.run("/only");
	await t.run("go");
	await t.run("/join");
	await t.run("go on");
	expect(t.requests.map(({ tools }) => tools)).toEqual([["read"], ["read", "later"]]);
	expect([...t.errors, ...t.notices]).toEqual([
		expect.stringContaining("no tool is named later; one that joins later is on"),
	]);
});

test("a result with terminate ends the run, and so does a blocked call", async () => {
	const t = await tryExtension(
		`
		pi.registerTool({ name: "finish", description: "d", parameters: { type: "object" },
			execute: async () => ({ content: [{ type: "text", text: "saved" }], details: {}, terminate: true }) });
		pi.on("tool_call", ({ toolName }) => toolName === "read" ? { block: true, reason: "no", terminate: true } : undefined);
		`,
		{ replies: [toolCall("finish", {}), toolCall("read", { path: "x" })] },
	);
	await t.run("go");
	await t.run("again");
	expect(t.requests).toHaveLength(2);
	expect(t.errors).toEqual([]);
});

test("ui.custom returns what done receives, also null, and undefined for a component that was closed", async () => {
	const t = await tryExtension(
		`
		let shown = 0;
		const show = (ctx, result) => ctx.ui.custom((tui, theme, keys, done) => {
			if (shown++ < 3) setTimeout(() => done(result));
			return { render: () => ["x"], invalidate() {} };
		});
		pi.registerCommand("show", { handler: async (args, ctx) => {
			const given = [await show(ctx, null), await show(ctx, undefined), await show(ctx, { a: 1 }), await show(ctx, null)];
			ctx.ui.notify(given.map((value) => value === undefined ? "undefined" : JSON.stringify(value)).join(" "));
		} });
		`,
		{ dialogs: [[], [], [], null] },
	);
	await t.run("/show");
	expect([t.errors, t.notices]).toEqual([[], ['null undefined {"a":1} undefined']]);
});

test("a proxy around pi, ctx, ctx.ui and the objects in them works, and wraps their functions", async () => {
	const t = await tryExtension(
		`
		const used = [];
		const wrap = (target, path) => new Proxy(target, {
			get(object, member, receiver) {
				const value = Reflect.get(object, member, receiver);
				const name = path + "." + String(member);
				if (typeof value === "function") return (...args) => { used.push(name); return value.apply(object, args); };
				return typeof value === "object" && value !== null && typeof member === "string" ? wrap(value, name) : value;
			},
		});
		const own = wrap(pi, "pi");
		own.on("session_start", (event, ctx) => own.events.emit("started", ctx.cwd));
		own.registerCommand("use", { handler: async (args, ctx) => {
			const c = wrap(ctx, "ctx");
			c.ui.theme.fg("accent", c.cwd);
			c.sessionManager.getEntries();
			c.modelRegistry.getAvailable();
			own.getActiveTools();
			c.isIdle();
			c.ui.notify(used.join(" "));
		} });
		`,
	);
	await t.run("/use");
	expect(t.errors).toEqual([]);
	expect(t.notices).toEqual([
		"pi.on pi.registerCommand pi.events.emit ctx.ui.theme.fg ctx.sessionManager.getEntries ctx.modelRegistry.getAvailable pi.getActiveTools ctx.isIdle",
	]);
});

test("modelRegistry.complete and stream send requests of the extension, which the session counts", async () => {
	const t = await tryExtension(
		`
		pi.registerCommand("ask", { handler: async (args, ctx) => {
			const context = { systemPrompt: "Be brief.", messages: [{ role: "user", content: [{ type: "text", text: "why?" }], timestamp: 0 }] };
			const reply = await ctx.modelRegistry.complete(ctx.model, context, { signal: ctx.signal, cacheRetention: "none", reasoningEffort: "high" });
			const events = [];
			const stream = ctx.modelRegistry.streamSimple(ctx.model, context);
			for await (const event of stream) events.push(event.type);
			const last = await stream.result();
			ctx.ui.notify([reply.content[0].text, events.at(0), events.at(-1), last.content[0].text].join(" "));
			const gone = ctx.modelRegistry.complete({ ...ctx.model, provider: "nobody" }, context);
			ctx.ui.notify(await gone.catch((error) => error.code));
		} });
		`,
		{ replies: ["because", "again"] },
	);
	await t.run("/ask");
	expect([t.errors, t.notices]).toEqual([[], ["because start done again", "key_missing"]]);
	expect(t.requests.map(({ systemPrompt, messages }) => [systemPrompt, messages[0]?.text])).toEqual([
		["Be brief.", "why?"],
		["Be brief.", "why?"],
	]);
	expect(t.entries.slice(1)).toEqual([
		expect.objectContaining({ type: "request_usage", purpose: "hook mine" }),
		expect.objectContaining({ type: "request_usage", purpose: "hook mine" }),
	]);
});

test("getCommands lists the commands of extensions, templates and skills with their files", async () => {
	const t = await tryExtension(
		`pi.registerCommand("list", { handler: async (args, ctx) =>
			ctx.ui.notify(JSON.stringify(pi.getCommands().map(({ name, source, sourceInfo }) => [name, source, sourceInfo.path]))) });`,
		{ files: { ".pi/prompts/fix.md": "Fix it.", "skills/x/SKILL.md": "---\nname: x\ndescription: d\n---\nx" } },
	);
	await t.run("/list");
	const commands: string[][] = JSON.parse(t.notices.at(-1) ?? "[]");
	expect(commands).toContainEqual(["list", "extension", expect.stringMatching(/\/mine\.ts$/)]);
	expect(commands.map(([name]) => name)).not.toContain("compact");
});
