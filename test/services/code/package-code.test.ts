import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { PackageManager } from "../../../src/packages/package-manager.js";
import { PackageGate } from "../../../src/services/code/package-code.js";
import type { TrustAnswer } from "../../../src/trust/gate.js";
import { loadTrust, type ProjectSet } from "../../../src/trust/store.js";
import { startNpmRegistry } from "../../helpers/npm-registry.js";
import { definePackage } from "../../helpers/package-files.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

const COMMAND = (name: string, text: string) => `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { word } from "../lib/word.js";
export default function (pi: HookAPI) {
	pi.command(${JSON.stringify(name)}, { description: "Says a word", handler: () => ({ status: word + ${JSON.stringify(text)} }) });
}
`;
const TOOL = `export default { name: "greet", description: "Greets", parameters: { type: "object", properties: {} },
	async run() { return { content: [{ type: "text", text: "hello" }] }; } };
`;
const EXTENSION = `import { left } from "left";
export default function (pi) {
	pi.registerCommand("left", { description: "Says left", handler: async (_args, ctx) => ctx.ui.notify(left()) });
	pi.on("context_with_system", () => {});
}
`;

/** A package with a resource of each kind. */
const KIT: Record<string, string> = {
	"hooks/hello.ts": COMMAND("hello", "!"),
	"lib/word.ts": 'export const word = "hello";\n',
	"tools/greet/index.ts": TOOL,
	"extensions/left.ts": EXTENSION,
	"skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies up\n---\nTidy up.\n",
	"prompts/review.md": "Review the code.\n",
	"agents/scout.md": "---\nname: scout\ndescription: Looks around\n---\nLook around.\n",
	"themes/kit.json": "{}\n",
};

async function place(kit: Record<string, string> = KIT) {
	const registry = await startNpmRegistry();
	const agentDir = tempAgentDir();
	const [cwd, home] = [tempDir(), tempDir()];
	const env = { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, HOME: home, ...registry.env };
	const paths = findPaths(env, cwd, home);
	const publish = (version: string, files: Record<string, string>) =>
		registry.publish(definePackage({ name: "kit", version, description: "A kit", dependencies: { left: "1" } }, files));
	registry.publish(
		definePackage(
			{ name: "left", version: "1.0.0", type: "module", exports: "./index.js" },
			{ "index.js": 'export const left = () => "from the left";\n' },
		),
	);
	publish("1.0.0", kit);
	const manager = () => new PackageManager({ paths, env, settings: new SettingsStore(paths) });
	const questions: ProjectSet[] = [];
	const warnings: string[] = [];
	const gate = (answers: TrustAnswer[] | null, trust?: boolean) =>
		new PackageGate({
			...{ paths, env, trust, run: [], discovery: true, copyDir: paths.projectCache },
			settings: new SettingsStore(paths),
			...(answers && {
				ask: async (set: ProjectSet) => {
					questions.push(set);
					return answers.shift() ?? "no";
				},
			}),
		});
	const accept = (answers: TrustAnswer[] | null, trust?: boolean) =>
		gate(answers, trust).accept((line) => warnings.push(line));
	return { registry, agentDir, cwd, home, env, paths, publish, manager, questions, warnings, gate, accept };
}

describe("the gate of packages", () => {
	test("asks once about the exact contents, with dependencies and what would be registered", async () => {
		const { manager, accept, questions, warnings, agentDir } = await place();
		await manager().install("npm:kit", "user");
		const accepted = await accept(["trust"]);
		const [question] = questions;
		expect(question?.package).toEqual({
			name: "npm:kit",
			notes: [
				"A kit",
				"brings 1 hook, 1 extension, 1 tool, 1 agent, 1 skill, 1 prompt, 1 theme, version 1.0.0",
				"has 9 files, 0.9 KB",
				"needs 1 dependency, 0.1 KB",
				"extensions/left.ts uses pi.registerCommand, ctx.ui.notify",
				"extensions/left.ts uses event context_with_system in line 4, which pi refuses",
			],
		});
		expect(question?.files.map(({ title, rel, state }) => `${title ?? rel} ${state}`)).toEqual([
			"agents/scout.md new",
			"extensions/left.ts new",
			"hooks/hello.ts new",
			"lib/word.ts new",
			"package.json new",
			"prompts/review.md new",
			"skills/tidy/SKILL.md new",
			"themes/kit.json new",
			"tools/greet/index.ts new",
			"node_modules/left 1.0.0 new",
		]);
		expect(question?.unresolved).toEqual([]);
		expect(accepted.hooks.map(({ path, kind, scope }) => `${path} ${scope} ${kind ?? "hook"}`)).toEqual([
			"npm:kit/hooks/hello.ts package hook",
			"npm:kit/extensions/left.ts package extension",
		]);
		for (const file of [...accepted.skills, ...accepted.prompts, ...accepted.themes, ...accepted.agents]) {
			expect(file.copy.startsWith(join(agentDir, "cache", "project"))).toBe(true);
			expect(readFileSync(file.copy, "utf8")).toBe(KIT[file.path.replace("npm:kit/", "")]);
		}
		await accept([]);
		expect([questions.length, warnings]).toEqual([1, []]);
		expect([...loadTrust(agentDir).projects.keys()]).toEqual(["package:npm:kit"]);
	});

	test("shows the changes of an update, of a dependency too, and runs the old version nowhere", async () => {
		const { manager, accept, questions, publish, registry } = await place();
		await manager().install("npm:kit", "user");
		await accept(["trust"]);
		registry.publish(
			definePackage({ name: "left", version: "1.1.0", type: "module", exports: "./index.js" }, { "index.js": "" }),
		);
		publish("1.1.0", { ...KIT, "hooks/hello.ts": COMMAND("hello", "?") });
		await manager().update("kit", "user");
		const refused = await accept(["no"]);
		expect(refused.hooks).toEqual([]);
		const changed = questions[1]?.files.filter(({ state }) => state === "changed") ?? [];
		expect(changed.map(({ title, rel }) => title ?? rel)).toEqual([
			"hooks/hello.ts",
			"package.json",
			"node_modules/left 1.1.0",
		]);
		expect(changed[0]?.trustedText).toBe(KIT["hooks/hello.ts"]);
		expect(changed[2]?.trustedText).toMatch(/^version 1\.0\.0\n[0-9a-f]{64} index\.js\n/);
	});

	test("runs the bytes that were shown, even if a file changes during the question", async () => {
		const { manager, paths, env } = await place();
		await manager().install("npm:kit", "user");
		const { dir } = JSON.parse(readFileSync(paths.packagesLock, "utf8")).packages["npm:kit"];
		const file = join(paths.packages, dir, "package/hooks/hello.ts");
		const racing = new PackageGate({
			...{ paths, env, trust: undefined, run: [], discovery: true, copyDir: paths.projectCache },
			settings: new SettingsStore(paths),
			ask: async () => {
				writeFileSync(file, "evil");
				return "trust";
			},
		});
		const { hooks } = await racing.accept(() => {});
		expect(readFileSync(hooks[0]?.realPath ?? "", "utf8")).toBe(KIT["hooks/hello.ts"]);
	});

	test("names a tampered file and loads nothing of its package", async () => {
		const { manager, accept, paths, warnings, questions } = await place();
		await manager().install("npm:kit", "user");
		await accept(["trust"]);
		const { dir } = JSON.parse(readFileSync(paths.packagesLock, "utf8")).packages["npm:kit"];
		writeFileSync(join(paths.packages, dir, "node_modules/left/index.js"), "evil");
		const { hooks, skills } = await accept([]);
		expect([hooks, skills, questions.length]).toEqual([[], [], 1]);
		expect(warnings).toEqual([
			"Package npm:kit was not loaded: it differs from packages.lock.json: node_modules/left/index.js · pi install restores it",
		]);
	});

	test("without a user, an untrusted package is refused, unless all code is trusted for this run", async () => {
		const { manager, accept, agentDir } = await place();
		await manager().install("npm:kit", "user");
		await expect(accept(null)).rejects.toMatchObject({
			code: "package_untrusted",
			message: "Package npm:kit was not loaded: it is not trusted",
		});
		expect((await accept(null, true)).hooks).toHaveLength(2);
		expect((await accept(null, false)).hooks).toEqual([]);
		expect(existsSync(join(agentDir, "trust.json"))).toBe(false);
	});

	test("filters of the settings select what is loaded", async () => {
		const { manager, accept, paths } = await place();
		await manager().install("npm:kit", "user");
		writeFiles(paths.agentDir, {
			"settings.json": {
				packages: [{ source: "npm:kit", extensions: [], skills: ["!tidy"], hooks: ["-hooks/hello.ts"] }],
			},
		});
		const { hooks, skills, prompts, tools } = await accept(["once"]);
		expect([hooks.length, skills.length, prompts.length, tools.length]).toEqual([0, 0, 1, 1]);
	});
});

test("a session uses everything that a trusted package brings, and reports what is not installed", async () => {
	const { manager, agentDir, cwd, env, paths } = await place();
	await manager().install("npm:kit", "user");
	const saved = JSON.parse(readFileSync(paths.settings, "utf8"));
	writeFiles(agentDir, { "settings.json": { packages: [...saved.packages, "npm:missing"] } });
	const questions: (string | undefined)[] = [];
	const said: string[] = [];
	const { session, notices } = await startSession({
		agentDir,
		cwd,
		env,
		ui: { notify: (text) => void said.push(text) },
		askTrust: async (set) => {
			questions.push(set.package?.name);
			return "trust";
		},
	});
	expect(questions).toEqual(["npm:kit"]);
	expect(session.loaded).toMatchObject({
		hooks: [
			{ path: "npm:kit/hooks/hello.ts", name: "hello", scope: "package" },
			{ path: "npm:kit/extensions/left.ts", name: "left", scope: "package" },
		],
		skills: ["tidy"],
		templates: ["review"],
		themes: [{ path: "npm:kit/themes/kit.json" }],
	});
	await session.prompt("/hello");
	await session.prompt("/left");
	expect(notices()).toEqual([
		"Package npm:missing was not loaded: it is not installed · pi install",
		expect.stringContaining("the event context_with_system is not available in pi"),
		"hello!",
	]);
	expect(said).toEqual(["from the left"]);
	expect(session.inspector.hookStatuses().map(({ path, scope }) => `${path} ${scope}`)).toEqual([
		"npm:kit/hooks/hello.ts package",
		"npm:kit/extensions/left.ts package",
	]);
});

test("--extension with the copy of a package that a session loads anyway adds nothing", async () => {
	const { manager, accept, agentDir, cwd, env } = await place();
	await manager().install("npm:kit", "user");
	const copies = (await accept(["trust"]))?.hooks ?? [];
	const extension = copies.find(({ kind }) => kind === "extension");
	const { session, notices } = await startSession({ agentDir, cwd, env, extensions: [String(extension?.realPath)] });
	expect(session.loaded.hooks.map(({ path }) => path)).toEqual([
		"npm:kit/hooks/hello.ts",
		"npm:kit/extensions/left.ts",
	]);
	expect(notices()).toEqual([expect.stringContaining("the event context_with_system is not available in pi")]);
});
