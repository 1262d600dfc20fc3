import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { grantedHandles } from "../../src/hooks/granted-handles.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles, writeHook } from "../helpers/temp.js";
import { hook } from "./support.js";

const granted = (...names: string[]) => ({
	hookGrants: Object.fromEntries(names.map((name) => [name, ["systemItems"]])),
});

describe("grants", () => {
	const REQUIRES = hook(
		'pi.requires("systemItems"); pi.command("say", { handler: (ctx) => { ctx.systemItems.append({ kind: "notification", text: "hi" }); return { status: "said" }; } });',
	);

	test("a hook that requires a handle without a grant does not load, and the message shows the setting", async () => {
		const { session } = await startSession({ hooks: { "a.ts": REQUIRES, "b.ts": hook("") } });
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["b"]);
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(
				/a\.ts:2:\d+ did not load: it requires "systemItems".*add "hookGrants": \{"a\.ts": \["systemItems"\]\} to your settings\.json/,
			),
		]);
		await expect(session.prompt("/say")).rejects.toMatchObject({ code: "bad_arguments" });
	});

	test("the factory runs again after the user grants a handle, and everything is registered once", async () => {
		const asked: unknown[] = [];
		const { session } = await startSession({
			hooks: {
				"a.ts": hook(
					'pi.command("first", { handler: () => ({ status: "1" }) }); pi.requires("systemItems"); pi.on("turn_end", () => {}); pi.command("say", { handler: (ctx) => ({ status: typeof ctx.systemItems }) });',
				),
			},
			askGrant: async ({ file, handle }) => {
				asked.push([file.name, file.scope, handle]);
				return "once";
			},
		});
		expect(asked).toEqual([["a", "global", "systemItems"]]);
		expect(await session.prompt("/say")).toMatchObject({ status: "object" });
		expect(session.inspector.hookStatuses()).toMatchObject([
			{ name: "a", events: ["turn_end"], commands: ["first", "say"], problem: null },
		]);
	});

	test("pi does not ask about an unknown handle", async () => {
		const { session } = await startSession({
			hooks: { "a.ts": hook('pi.requires("entries");') },
			askGrant: () => Promise.reject(new Error("asked")),
		});
		expect(session.loaded.warnings).toEqual([expect.stringMatching(/unknown handle "entries"/)]);
	});

	test("a grant that cannot be saved is valid for the run, and the message names the settings file", async () => {
		const agentDir = tempAgentDir();
		mkdirSync(join(agentDir, "settings.json"));
		const { session } = await startSession({
			agentDir,
			hooks: { "a.ts": REQUIRES },
			askGrant: async () => "grant",
		});
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["a"]);
		expect(session.loaded.warnings.join("\n")).toMatch(/settings\.json/);
	});

	test("the hook does not load even if its factory catches the error", async () => {
		const { session } = await startSession({
			hooks: { "a.ts": hook('try { pi.requires("systemItems"); } catch {}') },
		});
		expect(session.loaded.hooks).toEqual([]);
		expect(session.loaded.warnings).toEqual([expect.stringContaining('it requires "systemItems"')]);
	});

	test("an unknown handle is reported with the list of known ones", async () => {
		const { session } = await startSession({
			userSettings: { hookGrants: { "a.ts": ["entries"] } },
			hooks: { "a.ts": hook('pi.requires("entries");') },
		});
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(/unknown handle "entries" \(the handles are systemItems\)/),
		]);
	});

	test.each([
		["its file name", "a.ts"],
		["its path from the settings file", "hooks/a.ts"],
		["its path from the home directory", "~/x/a.ts"],
		["its absolute path", "/agent/hooks/a.ts"],
		["its real path", "/real/a.ts"],
	])("name a hook by %s", (_, key) => {
		const file = {
			path: key.startsWith("~") ? "/home/x/a.ts" : "/agent/hooks/a.ts",
			realPath: "/real/a.ts",
			name: "a",
			scope: "global" as const,
		};
		const resolvePath = (path: string) =>
			path.startsWith("~") ? path.replace("~", "/home") : path.startsWith("/") ? path : join("/agent", path);
		expect(grantedHandles({ [key]: ["systemItems", "other"] }, file, resolvePath)).toEqual(["systemItems"]);
		expect(grantedHandles({ "b.ts": ["systemItems"], [key]: [] }, file, resolvePath)).toEqual([]);
	});

	test("a hook in a folder is named by the folder, not by index.ts alone", () => {
		const file = { path: "/agent/hooks/a/index.ts", realPath: "/agent/hooks/a/index.ts", scope: "global" as const };
		const resolvePath = (path: string) => join("/agent", path);
		expect(grantedHandles({ "a/index.ts": ["systemItems"] }, file, resolvePath)).toEqual(["systemItems"]);
		expect(grantedHandles({ "index.ts": ["systemItems"] }, file, resolvePath)).toEqual([]);
	});

	test.each([
		["package", "npm:notes/hooks/a.ts", "/store/notes/hooks/a.ts"],
		["project", "/work/.pi/hooks/a.ts", "/cache/work/.pi/hooks/a.ts"],
	] as const)("the file name grants nothing to a hook of a %s, whose author chose it", (scope, path, realPath) => {
		const file = { path, realPath, scope };
		const resolvePath = (path: string) => join("/agent", path);
		expect(grantedHandles({ "a.ts": ["systemItems"] }, file, resolvePath)).toEqual([]);
		expect(grantedHandles({ [file.path]: ["systemItems"] }, file, resolvePath)).toEqual(["systemItems"]);
	});

	test("the message for a hook of a project shows its path", async () => {
		const { session, cwd } = await startSession({
			files: { ".pi/hooks/a.ts": REQUIRES },
			trust: true,
			userSettings: granted("a.ts"),
		});
		expect(session.loaded.warnings).toEqual([
			expect.stringContaining(`add "hookGrants": {"${cwd}/.pi/hooks/a.ts": ["systemItems"]}`),
		]);
	});

	test("a granted hook loads; a hook without a grant has no handle in events and commands", async () => {
		const look = hook('pi.command("look", { handler: (ctx) => ({ status: String(ctx.systemItems) }) });');
		const { session } = await startSession({
			userSettings: granted("a.ts"),
			hooks: { "a.ts": REQUIRES, "b.ts": look },
		});
		expect(session.loaded.hooks.map(({ name }) => name)).toEqual(["a", "b"]);
		expect(await session.prompt("/say")).toMatchObject({ status: "said" });
		expect(await session.prompt("/look")).toMatchObject({ status: "undefined" });
	});

	test("a hook with a grant has the handle without requiring it", async () => {
		const look = hook('pi.command("look", { handler: (ctx) => ({ status: typeof ctx.systemItems }) });');
		const { session } = await startSession({ userSettings: granted("a.ts"), hooks: { "a.ts": look } });
		expect(await session.prompt("/look")).toMatchObject({ status: "object" });
	});

	test("a project cannot grant anything to its hooks", async () => {
		const cwd = tempDir();
		writeHook(join(cwd, ".pi", "hooks"), "a.ts", REQUIRES);
		writeFiles(cwd, { ".pi/settings.json": granted("a.ts") });
		const { session } = await startSession({ cwd, trust: true });
		expect(session.loaded.hooks).toEqual([]);
	});
});
