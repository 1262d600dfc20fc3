import { expect, test } from "vitest";
import { agentDir, paths, resolveUserPath, runEnvironment } from "../../src/config/paths.js";

test("the agent directory is PI_CODING_AGENT_DIR, or ~/.pi/agent", () => {
	expect(agentDir({}, "/home/u")).toBe("/home/u/.pi/agent");
	expect(agentDir({ PI_CODING_AGENT_DIR: "/x/y/" }, "/home/u")).toBe("/x/y");
	expect(agentDir({ PI_CODING_AGENT_DIR: "~/z" }, "/home/u")).toBe("/home/u/z");
	expect(agentDir({ PI_CODING_AGENT_DIR: " " }, "/home/u")).toBe("/home/u/.pi/agent");
});

test("paths returns every file and directory", () => {
	expect(paths({}, "/work/shop", "/home/u")).toEqual({
		cwd: "/work/shop",
		home: "/home/u",
		agentDir: "/home/u/.pi/agent",
		settings: "/home/u/.pi/agent/settings.json",
		auth: "/home/u/.pi/agent/auth.json",
		models: "/home/u/.pi/agent/models.json",
		trust: "/home/u/.pi/agent/trust.json",
		trustedTexts: "/home/u/.pi/agent/trusted",
		keybindings: "/home/u/.pi/agent/keybindings.json",
		mcp: "/home/u/.pi/agent/mcp.json",
		modelList: "/home/u/.pi/agent/model-list.json",
		lastModels: "/home/u/.pi/agent/last-models.json",
		hooks: "/home/u/.pi/agent/hooks",
		extensions: "/home/u/.pi/agent/extensions",
		tools: "/home/u/.pi/agent/tools",
		prompts: "/home/u/.pi/agent/prompts",
		commands: "/home/u/.pi/agent/commands",
		skills: "/home/u/.pi/agent/skills",
		themes: "/home/u/.pi/agent/themes",
		contextFile: "/home/u/.pi/agent/AGENTS.md",
		sessions: "/home/u/.pi/agent/sessions",
		acceptedNames: "/home/u/.pi/agent/cache/accepted-names.json",
		usageIndex: "/home/u/.pi/agent/cache/usage.json",
		tmp: "/home/u/.pi/agent/tmp",
		hookCache: "/home/u/.pi/agent/cache/jiti",
		projectCache: "/home/u/.pi/agent/cache/project",
		packages: "/home/u/.pi/agent/packages",
		packagesLock: "/home/u/.pi/agent/packages.lock.json",
		project: {
			dir: "/work/shop/.pi",
			settings: "/work/shop/.pi/settings.json",
			mcp: "/work/shop/.pi/mcp.json",
			sharedMcp: "/work/shop/.mcp.json",
			packagesLock: "/work/shop/.pi/packages.lock.json",
			hooks: "/work/shop/.pi/hooks",
			extensions: "/work/shop/.pi/extensions",
			tools: "/work/shop/.pi/tools",
			prompts: "/work/shop/.pi/prompts",
			commands: "/work/shop/.pi/commands",
			skills: "/work/shop/.pi/skills",
			themes: "/work/shop/.pi/themes",
		},
	});
});

test.each([
	["~", "/home/u"],
	["~/a", "/home/u/a"],
	["~a", "/base/~a"],
	["a/../b", "/base/b"],
	["/a/b", "/a/b"],
])("the path %s resolves to %s", (path, expected) => {
	expect(resolveUserPath(path, "/base", "/home/u")).toBe(expected);
});

test.each([
	[undefined, false],
	["", false],
	["0", false],
	["false", false],
	["1", true],
	["yes", true],
])("a switch with the value %j is %j", (value, on) => {
	expect(runEnvironment({ PI_TRUST: value, PI_OFFLINE: value }, "/home/u")).toMatchObject({ trust: on, offline: on });
});
