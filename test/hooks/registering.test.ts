import { expect, test } from "vitest";
import { startSession, type TestSession } from "../helpers/session.js";
import { writeFiles } from "../helpers/temp.js";
import { hook, share } from "./support.js";

/** A hook whose command `late` runs the function `__late` with its `pi`. */
const LATE = hook(`
	pi.command("late", { handler: (ctx) => { globalThis.__late(pi, ctx); } });`);

/** Names of the commands that hooks provide now. */
function commands({ session }: TestSession): string[] {
	return session.palette().flatMap(({ name, origin }) => (origin.startsWith("hook ") ? [name] : []));
}

test("a command, handler and entry type that a handler registers take effect at once", async () => {
	const fired: string[] = [];
	share("__fired", fired);
	share("__late", (pi: { command: unknown }) => register(pi));
	const run = await startSession({ hooks: { "late.ts": LATE } });
	const { session, provider } = run;
	await session.prompt("/late");
	expect(commands(run)).toEqual(["late", "added"]);
	expect(await session.prompt("/added")).toMatchObject({ status: "ran" });
	provider.reply("ok");
	await session.prompt("hi");
	expect(fired).toEqual(["agent_start"]);
	expect(session.entryRenderer("memo")).toBeDefined();
});

/** Registers one of each kind. */
function register(given: unknown): void {
	const pi = given as import("../../src/hooks/types.js").HookAPI;
	pi.command("added", { handler: () => ({ status: "ran" }) });
	pi.entry("memo", { render: () => "memo" });
	pi.on("agent_start", () => void (Reflect.get(globalThis, "__fired") as string[]).push("agent_start"));
}

test("a registration in a timer takes effect at once", async () => {
	let added: () => void = () => {};
	const done = new Promise<void>((resolve) => {
		added = resolve;
	});
	share("__added", () => added());
	const run = await startSession({
		hooks: {
			"timer.ts": hook(`setTimeout(() => { pi.command("ticked", { handler() {} }); globalThis.__added(); }, 5);`),
		},
	});
	await done;
	expect(commands(run)).toEqual(["ticked"]);
});

test("turning a hook off removes what it registered late, turning it on brings it back, a reload forgets it", async () => {
	share("__fired", []);
	share("__late", register);
	const run = await startSession({ hooks: { "late.ts": LATE } });
	const { session, agentDir } = run;
	await session.prompt("/late");
	const path = `${agentDir}/hooks/late.ts`;
	await session.inspector.setHookEnabled(path, false);
	expect(commands(run)).toEqual([]);
	expect(session.entryRenderer("memo")).toBeUndefined();
	await session.inspector.setHookEnabled(path, true);
	expect(commands(run)).toEqual(["late", "added"]);
	await session.reload();
	expect(commands(run)).toEqual(["late"]);
	expect(session.entryRenderer("memo")).toBeUndefined();
});

test("a hook that is turned off keeps what it registers meanwhile for when it is turned on", async () => {
	let add: () => void = () => {};
	share("__late", (pi: unknown) => {
		add = () => (pi as { command(name: string, options: object): void }).command("hidden", { handler() {} });
	});
	const run = await startSession({ hooks: { "late.ts": LATE } });
	await run.session.prompt("/late");
	const path = `${run.agentDir}/hooks/late.ts`;
	await run.session.inspector.setHookEnabled(path, false);
	add();
	expect(commands(run)).toEqual([]);
	await run.session.inspector.setHookEnabled(path, true);
	expect(commands(run)).toEqual(["late", "hidden"]);
});

test("a hook receives shutdown when it is turned off and start when it is turned on, and shutdown once at the end", async () => {
	const received: string[] = [];
	share("__received", received);
	const run = await startSession({
		hooks: {
			"clock.ts": hook(`pi.on("session", ({ reason }) => globalThis.__received.push(reason));`),
		},
	});
	const { session } = run;
	const path = `${run.agentDir}/hooks/clock.ts`;
	const turn = (isOn: boolean) => session.inspector.setHookEnabled(path, isOn);
	await turn(false);
	await turn(false);
	await session.newSession();
	expect(received.splice(0)).toEqual(["start", "shutdown"]);
	await turn(true);
	await turn(false);
	await session.dispose();
	expect(received).toEqual(["start", "shutdown"]);
});

test("an unloaded hook cannot register", async () => {
	const kept: { command(name: string, options: object): void }[] = [];
	share("__late", (pi: { command(name: string, options: object): void }) => kept.push(pi));
	const run = await startSession({ hooks: { "late.ts": LATE } });
	await run.session.prompt("/late");
	await run.session.reload();
	expect(() => kept[0]?.command("ghost", { handler() {} })).toThrow(/was used after the hook was unloaded/);
	expect(commands(run)).toEqual(["late"]);
});

test("each clash is reported once, with both files, also when it arises later", async () => {
	share("__late", register);
	const run = await startSession({
		hooks: {
			"a.ts": hook(`pi.command("added", { handler() {} }); pi.entry("memo");`),
			"late.ts": LATE,
		},
	});
	const { session, agentDir } = run;
	const clashes = () => run.notices().map((line) => line.replaceAll(`${agentDir}/hooks/`, ""));
	expect(clashes()).toEqual([]);
	await session.prompt("/late");
	await session.prompt("/late");
	expect(clashes()).toEqual([
		"/added is registered by a.ts and late.ts; the latter is used",
		"Entries of type memo are declared by a.ts and late.ts; the latter draws them",
	]);
});

test("a name that a hook registers twice while it loads is reported with both places, and later replaces the first", async () => {
	share("__late", (pi: { command(name: string, options: object): void }) => {
		pi.command("go", { handler: () => ({ status: "third" }) });
	});
	const run = await startSession({
		hooks: {
			"a.ts": `export default (pi) => {
	const note = { name: "note", description: "d", parameters: { type: "object", properties: {} }, run: async () => ({ content: [] }) };
	pi.command("go", { handler: () => ({ status: "first" }) });
	pi.command("go", { handler: () => ({ status: "second" }) });
	pi.tool(note);
	pi.tool({ ...note });
	pi.flag("level", { type: "boolean" });
	pi.flag("level", { type: "string" });
	pi.entry("memo"); pi.entry("memo", { render: () => "memo" });
	pi.command("late", { handler: () => globalThis.__late(pi) });
};`,
		},
	});
	const warnings = [
		"/go is registered by a.ts:3:5 and a.ts:4:5; the latter is used",
		"The tool note is registered by a.ts:5:5 and a.ts:6:5; the latter is used",
		"--level is registered by a.ts:7:5 and a.ts:8:5; the latter is used",
		"The entry type memo is registered by a.ts:9:5 and a.ts:9:23; the latter is used",
	];
	expect(run.session.loaded.warnings.map((line) => line.replaceAll(`${run.agentDir}/hooks/`, ""))).toEqual(warnings);
	expect(await run.session.prompt("/go")).toMatchObject({ status: "second" });
	await run.session.prompt("/late");
	expect(await run.session.prompt("/go")).toMatchObject({ status: "third" });
	expect(run.notices().slice(warnings.length)).toEqual(["second", "third"]);
});

test("an entry type that a hook writes without declaring it keeps the drawing of the hook that declares it", async () => {
	const run = await startSession({
		hooks: {
			"a.ts": hook(`pi.entry("memo", { render: () => "memo" });`),
			"b.ts": hook(`pi.command("write", { handler: async (ctx) => { await ctx.saveEntry({ type: "memo" }); } });`),
		},
	});
	await run.session.prompt("/write");
	expect(run.session.entryRenderer("memo")).toBeDefined();
	expect(run.notices()).toEqual([]);
});

test("a hook of the user that registers a command of a bundled hook later replaces that hook", async () => {
	share("__late", (pi: { command(name: string, options: object): void }) => pi.command("pin", { handler() {} }));
	const run = await startSession({ hooks: { "late.ts": LATE }, bundledHooks: true });
	expect(commands(run)).toContain("unpin");
	await run.session.prompt("/late");
	expect(commands(run)).not.toContain("unpin");
	expect(run.notices()).toEqual([]);
	writeFiles(run.agentDir, { "hooks/late.ts": hook("") });
	await run.session.reload();
	expect(commands(run)).toContain("unpin");
});

test("the models of a provider that a handler registers are in the next list of models, and gone after turning it off", async () => {
	const { session, agentDir } = await startSession({
		hooks: {
			"late.ts": hook(`
				pi.command("add", { async handler(ctx) {
					pi.provider("late", { baseUrl: "http://127.0.0.1:9", api: "openai-completions", apiKey: "k", models: [{ id: "m" }] });
					const models = await ctx.availableModels();
					return { status: models.map(({ provider }) => provider).join() };
				} });`),
		},
	});
	expect(await session.prompt("/add")).toMatchObject({ status: expect.stringContaining("late") });
	void session.inspector.setHookEnabled(`${agentDir}/hooks/late.ts`, false);
	expect((await session.controls.availableModels()).map(({ provider }) => provider)).not.toContain("late");
});
