import { readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BUNDLED_HOOKS } from "../../../src/hooks/bundled.js";
import { hookName } from "../../../src/hooks/hook-name.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { example } from "../../hooks-examples/example.js";

const OWN_POP = `export default (pi) => pi.command("pop", { handler: () => ({ status: "my own" }) });`;

function start(options: Parameters<typeof startSession>[0] = {}) {
	return startSession({ bundledHooks: true, ...options });
}

function commands({ session }: TestSession): string[] {
	return session.palette().flatMap(({ name, origin }) => (origin.startsWith("hook ") ? [name] : []));
}

function paths({ session }: TestSession): string[] {
	return session.loaded.hooks.map(({ path }) => path);
}

test("the list contains every example, in byte order, with its commands", async () => {
	const sources = readdirSync(example(".")).filter((file) => file.endsWith(".ts"));
	const files = sources.map((file) => basename(file, ".ts"));
	expect(BUNDLED_HOOKS.map(({ name }) => name)).toEqual(files.sort());
	const all = BUNDLED_HOOKS.map(({ name }) => `pi:${name}`);
	const grants = { "pi:task-reminder": ["systemItems"] };
	const { session } = await start({ userSettings: { hooks: all, hookGrants: grants } });
	const loaded = session.inspector.hookStatuses();
	expect(loaded.map(({ path, problem }) => ({ path, problem }))).toEqual(all.map((path) => ({ path, problem: null })));
	expect(Object.fromEntries(loaded.map((hook) => [hook.name, hook.commands]))).toEqual(
		Object.fromEntries(BUNDLED_HOOKS.map((hook) => [hook.name, hook.commands])),
	);
});

test("the list contains the types of the entries that hooks save, and those of their contexts", async () => {
	const { session } = await start({
		userSettings: {
			hooks: BUNDLED_HOOKS.map(({ name }) => `pi:${name}`),
			hookGrants: { "pi:task-reminder": ["systemItems"] },
		},
	});
	const declared = session.inspector.hookStatuses().map(({ name, entryTypes }) => [name, [...entryTypes].sort()]);
	const listed = BUNDLED_HOOKS.map(({ name, entryTypes = [] }) => [name, [...entryTypes].sort()]);
	expect(declared).toEqual(listed);
	for (const { entryTypes = [], contextTypes = [] } of BUNDLED_HOOKS) {
		expect(entryTypes).toEqual(expect.arrayContaining([...contextTypes]));
	}
});

describe("which bundled hooks are on", () => {
	test("stacking, fold and pin by default, without trust and without a warning", async () => {
		const place = await start();
		expect(paths(place)).toEqual(["pi:fold", "pi:pin", "pi:stacking"]);
		expect(commands(place)).toEqual(["fold", "unfold", "pin", "unpin", "pop", "unpop"]);
		expect(place.session.loaded.warnings).toEqual([]);
	});

	test.each([
		[
			["-pi:fold", "pi:redact"],
			["pi:pin", "pi:redact", "pi:stacking"],
		],
		[
			["-pi:fold", "pi:fold"],
			["pi:fold", "pi:pin", "pi:stacking"],
		],
	])("as the setting hooks says: %j", async (hooks, expected) => {
		expect(paths(await start({ userSettings: { hooks } }))).toEqual(expected);
	});

	test("none with --no-hooks, except those of --hook", async () => {
		const options = { bundledHooks: undefined, discoverHooks: false, userSettings: { hooks: ["pi:redact"] } };
		expect(paths(await start(options))).toEqual([]);
		expect(paths(await start({ ...options, hookFiles: ["pi:stacking"] }))).toEqual(["pi:stacking"]);
	});

	test("a project's settings decide nothing", async () => {
		const place = await start({ files: { ".pi/settings.json": { hooks: ["-pi:fold", "pi:redact"] } } });
		expect(paths(place)).toEqual(["pi:fold", "pi:pin", "pi:stacking"]);
		expect(place.session.loaded.warnings).toEqual([expect.stringContaining('a project cannot set "hooks"; ignored')]);
	});

	test("an unknown name is reported, and the others load", async () => {
		const place = await start({ userSettings: { hooks: ["pi:redcat"] } });
		expect(paths(place)).toHaveLength(3);
		expect(place.session.loaded.warnings).toEqual(["There is no bundled hook pi:redcat · did you mean pi:redact?"]);
	});

	test("a hook that pi no longer has is named with what replaces it", async () => {
		const { session } = await start({ userSettings: { hooks: ["pi:todo"] } });
		expect(session.loaded.warnings).toEqual([
			'There is no bundled hook pi:todo · the task list replaces it: "features": { "tasks": true } in settings.json',
		]);
	});

	test("prune is now clear: its former name turns it on and off, and a line says so", async () => {
		const inSettings = await start({ userSettings: { hooks: ["-pi:fold", "pi:prune"] } });
		expect(paths(inSettings)).toEqual(["pi:clear", "pi:pin", "pi:stacking"]);
		const line = "The bundled hook pi:prune is now pi:clear · write pi:clear instead of pi:prune";
		expect(inSettings.session.loaded.warnings).toEqual([line]);
		const { inspector } = inSettings.session;
		expect(inspector.hookStatuses().filter(({ name }) => ["clear", "prune"].includes(name))).toMatchObject([
			{ path: "pi:clear", isEnabled: true },
		]);
		await inspector.setHookEnabled("pi:clear", false);
		expect(paths(inSettings)).toEqual(["pi:pin", "pi:stacking"]);
		await inSettings.session.prompt("/reload");
		expect(paths(inSettings)).toEqual(["pi:pin", "pi:stacking"]);

		const named = await start({ hookFiles: ["pi:prune"], requireNamed: true });
		expect(paths(named)).toEqual(["pi:clear", "pi:fold", "pi:pin", "pi:stacking"]);
		expect(named.session.loaded.warnings).toEqual([line]);
		const off = await start({ userSettings: { hooks: ["pi:clear", "-pi:prune"] } });
		expect(paths(off)).not.toContain("pi:clear");
	});

	test("/reload reads the setting again", async () => {
		const place = await start();
		writeFileSync(join(place.agentDir, "settings.json"), JSON.stringify({ hooks: ["-pi:stacking"] }));
		await place.session.prompt("/reload");
		expect(paths(place)).toEqual(["pi:fold", "pi:pin"]);
	});
});

describe("a hook of the user with a command of a bundled hook", () => {
	test.each([
		["global", { hooks: { "mine.ts": OWN_POP } }],
		["trusted project", { files: { ".pi/hooks/mine.ts": OWN_POP }, trust: true }],
	])("replaces the complete bundled hook without a warning: %s", async (_, options) => {
		const place = await start(options);
		expect(commands(place)).toEqual(["fold", "unfold", "pin", "unpin", "pop"]);
		expect(await place.session.prompt("/pop")).toEqual({ kind: "command", status: "my own" });
		expect(place.session.loaded.warnings).toEqual([]);
		const [mine, stacking] = ["mine", "stacking"].map((name) =>
			place.session.inspector.hookStatuses().find((hook) => hook.name === name),
		);
		expect(stacking?.bundled?.replacedBy).toBe(mine?.path);
		expect([mine?.conflicts, stacking?.conflicts]).toEqual([[], []]);
		await expect(place.session.prompt("/unpop")).rejects.toMatchObject({
			message: `Unknown command /unpop: ${mine?.path} replaces the bundled hook stacking, which provides it`,
		});
	});

	test("of an untrusted project replaces nothing", async () => {
		const place = await start({ files: { ".pi/hooks/mine.ts": OWN_POP } });
		expect(commands(place)).toContain("unpop");
	});
});

describe("an unknown command that an inactive bundled hook provides", () => {
	test.each([
		[{}, "/cleared", "clear", 'turn it on in /hooks, or add "pi:clear" to "hooks" in settings.json'],
		[
			{ userSettings: { hooks: ["-pi:stacking"] } },
			"/pop 1",
			"stacking",
			'turn it on in /hooks, or remove "-pi:stacking" from "hooks" in settings.json',
		],
		[
			{ bundledHooks: undefined, discoverHooks: false },
			"/pop",
			"stacking",
			"start pi without --no-hooks, or with --hook pi:stacking",
		],
	])("says so: %j", async (options, line, name, hint) => {
		const { session } = await start(options);
		const message = `Unknown command ${line.split(" ")[0]}: the bundled hook ${name}, which provides it, is off`;
		await expect(session.prompt(line)).rejects.toMatchObject({ code: "bad_arguments", message, hint });
	});
});

test("a session recorded with the example file continues with the bundled hook", async () => {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const first = await startSession({ ...place, hookFiles: [example("stacking.ts")], session: { kind: "new" } });
	first.provider.reply("a1", "a2", "SUM");
	for (const prompt of ["u1", "u2", "/pop 2"]) await first.session.prompt(prompt);
	const target = first.session.sessionFile ?? "";
	const sent = first.session.context.messages.map(({ message }) => message);
	await first.session.dispose();
	const resumed = await start({ ...place, session: { kind: "open", target } });
	expect(resumed.session.missingHooks).toBeNull();
	const { messages, hidden } = resumed.session.context;
	expect(messages.map(({ message }) => message)).toEqual(sent);
	expect(hidden.map(({ by }) => (by.kind === "hook" ? [by.hook, hookName(by.hook)] : by))).toEqual([
		["pi:stacking", "stacking"],
		["pi:stacking", "stacking"],
	]);
});

test("context handlers run only in sessions with entries of their hook", async () => {
	const place = await start();
	place.provider.reply("a1", "SUM");
	await place.session.prompt("u1");
	const calls = () => place.session.inspector.hookStatuses().map(({ figures }) => figures.events.context ?? 0);
	expect(calls().slice(0, 3)).toEqual([0, 0, 0]);
	await place.session.prompt("/pop 1");
	expect(calls().slice(0, 3)).toEqual([0, 0, expect.any(Number)]);
	expect(calls()[2]).toBeGreaterThan(0);
});

test("a hook that is turned on starts at once, and one that is turned off is shut down", async () => {
	const place = await start({ files: { ".pi/inbox": "" } });
	const { inspector } = place.session;
	await inspector.setHookEnabled("pi:webhook", true);
	await place.session.prompt("/webhook");
	const url = /http:\/\/[^\s]+/.exec(place.notices().join(" "))?.[0] ?? "";
	expect(url).not.toBe("");
	await inspector.setHookEnabled("pi:webhook", false);
	await expect(fetch(url)).rejects.toThrow();
	await expect(place.session.prompt("/webhook")).rejects.toMatchObject({ code: "bad_arguments" });
});

test("an error of a bundled hook names it by its path in the settings", async () => {
	const place = await start({ userSettings: { hooks: ["pi:task-reminder"] } });
	expect(place.session.loaded.warnings).toEqual([
		expect.stringMatching(
			/^Hook pi:task-reminder:\d+:\d+ did not load: it requires "systemItems", which is not granted/,
		),
	]);
});

test("bundled hooks are part of pi and start no watchdog", async () => {
	const watched: string[] = [];
	const enter = (name: string) => {
		watched.push(name);
		return () => {};
	};
	const { session } = await start({ watch: { enter, add: ({ path }) => enter(path) } });
	await session.prompt("/unpop");
	expect(watched).toEqual([]);
});
