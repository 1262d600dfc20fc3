import { chmodSync, chownSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SettingsStore } from "../../src/config/settings-store.js";
import { discoverHooks } from "../../src/hooks/discover.js";
import { loadHooks } from "../../src/hooks/load.js";
import { loadModelsFile } from "../../src/models/models-file.js";
import { loadTrust } from "../../src/trust/store.js";
import { findForeignWriter } from "../../src/util/foreign-writers.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const isRoot = process.getuid?.() === 0;
const OTHER = 12_345;

function place() {
	const root = tempDir();
	writeFiles(root, { "agent/hooks/a.ts": "export default () => {};", "else/b.ts": "export default () => {};" });
	chmodSync(root, 0o755);
	for (const dir of ["agent", "agent/hooks", "else"]) chmodSync(join(root, dir), 0o700);
	for (const file of ["agent/hooks/a.ts", "else/b.ts"]) chmodSync(join(root, file), 0o600);
	symlinkSync(join(root, "else/b.ts"), join(root, "agent/hooks/b.ts"));
	const agentDir = join(root, "agent");
	const find = (name: string) =>
		findForeignWriter(join(agentDir, "hooks", name), agentDir)?.problem.replaceAll(`${root}/`, "") ?? null;
	return { root, agentDir, find };
}

test("files of the user alone are fine, in sticky directories such as /tmp too", () => {
	const { find, root } = place();
	expect([find("a.ts"), find("b.ts"), find("missing.ts")]).toEqual([null, null, null]);
	chmodSync(root, 0o1777);
	expect([find("a.ts"), find("b.ts")]).toEqual([null, null]);
});

test.each<[string, string, number, string]>([
	["a world-writable agent directory", "agent", 0o707, "a.ts"],
	["a directory of hooks", "agent/hooks", 0o770, "a.ts"],
	["a file", "agent/hooks/a.ts", 0o666, "a.ts"],
	["a link's target", "else/b.ts", 0o606, "b.ts"],
	["the directory of a link's target", "else", 0o702, "b.ts"],
])("others who can write to %s are found", (_name, path, mode, hook) => {
	const { root, find } = place();
	chmodSync(join(root, path), mode);
	expect(find(hook)).toBe(`other users can write to ${path}`);
});

test("others who can write to a parent directory of a link's target are found", () => {
	const { root, find } = place();
	chmodSync(root, 0o777);
	expect(find("b.ts")).toBe(`other users can write to ${root}`);
});

describe.runIf(isRoot)("a file of another user", () => {
	test.each([
		["itself", "agent/hooks/a.ts", "a.ts"],
		["as the target of a link", "else/b.ts", "b.ts"],
		["as its directory", "agent", "a.ts"],
	])("is found: %s", (_name, path, hook) => {
		const { root, find } = place();
		chownSync(join(root, path), OTHER, OTHER);
		expect(find(hook)).toBe(`${path} belongs to another user`);
	});
});

const PRIVATE = {
	cwd: "/",
	homeDir: "/",
	settingsDir: "/",
	projectDir: "",
	configured: [],
	explicit: [],
	discovery: true,
};

test("a hook in a world-writable agent directory is not found", () => {
	const { agentDir } = place();
	chmodSync(agentDir, 0o777);
	const { files, errors } = discoverHooks({ ...PRIVATE, globalDir: join(agentDir, "hooks") });
	expect(files).toEqual([]);
	expect(errors.map(({ message }) => message)).toContain(
		`Hook ${join(agentDir, "hooks/a.ts")} was not loaded: other users can write to ${agentDir}`,
	);
});

test.each([
	["TypeScript", { "part.ts": "export const a = 1;" }, 'import { a } from "./part.js"; export default () => a;'],
	["what only jiti loads", { "part.cjs": "exports.a = 1;" }, 'import { a } from "./part.cjs"; export default () => a;'],
])("a hook that imports a file which others can write to does not load: %s", async (_name, files, source) => {
	const { agentDir } = place();
	writeFiles(agentDir, Object.fromEntries(Object.entries(files).map(([name, text]) => [`lib/${name}`, text])));
	writeFiles(agentDir, { "hooks/user.ts": source.replace("./", "../lib/") });
	const [part = ""] = Object.keys(files).map((name) => join(agentDir, "lib", name));
	chmodSync(join(agentDir, "hooks/user.ts"), 0o600);
	chmodSync(join(agentDir, "lib"), 0o700);
	const load = async () => {
		const found = discoverHooks({ ...PRIVATE, globalDir: join(agentDir, "hooks") }).files;
		return loadHooks(
			found.filter(({ name }) => name === "user"),
			{ cacheDir: join(agentDir, "cache"), timeoutMs: 5000, send: () => {}, grants: () => [] } as never,
		);
	};
	chmodSync(part, 0o600);
	expect((await load()).failures).toEqual([]);
	chmodSync(part, 0o666);
	expect((await load()).failures[0]?.error.message).toContain(`other users can write to ${part}`);
});

describe("configuration that others can write to", () => {
	test("settings.json sets only what a project may set", () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, { "settings.json": { theme: "light", shellPath: "/tmp/evil", hooks: ["/tmp/evil.ts"] } });
		chmodSync(join(agentDir, "settings.json"), 0o666);
		const store = new SettingsStore({ agentDir, cwd: tempDir() });
		expect([store.current.theme, store.current.shellPath, store.current.hooks]).toEqual(["light", undefined, []]);
		expect(store.problems[0]).toContain(`other users can write to ${agentDir}/settings.json`);
	});

	test("models.json is not used", () => {
		const agentDir = tempAgentDir();
		const path = join(agentDir, "models.json");
		writeFiles(agentDir, {
			"models.json": {
				providers: {
					a: { baseUrl: "http://127.0.0.1:1", api: "openai-completions", apiKey: "!id", models: [{ id: "m" }] },
				},
			},
		});
		expect(loadModelsFile(path).providers).toHaveLength(1);
		chmodSync(path, 0o666);
		const { providers, warnings } = loadModelsFile(path);
		expect([providers, warnings]).toEqual([
			[],
			[`${path} is not used: other users can write to ${path} · chmod go-w ${path}`],
		]);
	});

	test("trust.json trusts nothing", () => {
		const agentDir = tempAgentDir();
		writeFiles(agentDir, {
			"trust.json": { version: 1, projects: { "/a": { files: {}, at: "2026-01-01T00:00:00Z" } } },
		});
		chmodSync(join(agentDir, "trust.json"), 0o666);
		const { projects, warning } = loadTrust(agentDir);
		expect([projects.size, warning]).toEqual([0, expect.stringContaining("other users can write to")]);
	});

	test("mcp.json defines no servers", async () => {
		const agentDir = tempAgentDir();
		mkdirSync(agentDir, { recursive: true });
		writeFiles(agentDir, { "mcp.json": { mcpServers: { a: { command: "/tmp/evil" } } } });
		chmodSync(join(agentDir, "mcp.json"), 0o666);
		const { notices, session, provider } = await startSession({ agentDir });
		provider.reply("Fine.");
		await session.prompt("hi");
		expect(notices().join("\n")).toContain(`other users can write to ${agentDir}/mcp.json`);
	});
});
