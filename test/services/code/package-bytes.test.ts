import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paths as findPaths } from "../../../src/config/paths.js";
import { SettingsStore } from "../../../src/config/settings-store.js";
import { PackageGate } from "../../../src/services/code/package-code.js";
import type { ProjectSet } from "../../../src/trust/store.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

/** A hook whose command answers with an expression, which its module evaluates. */
const hook = (expression: string, imports = "") => `${imports}
const word = ${expression};
export default function (pi) {
	pi.command("say", { description: "Says a word", handler: () => ({ status: String(word) }) });
}
`;
const MANIFEST = {
	name: "kit",
	version: "1.0.0",
	dependencies: { left: "1", json: "1" },
	devDependencies: { dev: "1" },
};

/** A package at a path, with dependencies and devDependencies. */
function place(files: Readonly<Record<string, unknown>>) {
	const agentDir = tempAgentDir();
	const [cwd, home, root] = [tempDir("pi-project-"), tempDir("pi-home-"), tempDir("pi-kit-")];
	writeFiles(root, {
		"package.json": MANIFEST,
		"node_modules/left/package.json": { name: "left", version: "1.0.0", main: "index.js" },
		"node_modules/left/index.js": 'module.exports = "left";\n',
		"node_modules/left/other.js": 'module.exports = "other";\n',
		"node_modules/json/package.json": { name: "json", version: "1.0.0", main: "word.json" },
		"node_modules/json/word.json": { word: "json" },
		"node_modules/dev/package.json": { name: "dev", version: "1.0.0", main: "index.js" },
		"node_modules/dev/index.js": 'module.exports = "dev";\n',
		"node_modules/.package-lock.json": {},
		"node_modules/.bin/dev": "#!/bin/sh\n",
		...files,
	});
	writeFiles(agentDir, { "settings.json": { packages: [root] } });
	const env = { PATH: process.env.PATH, PI_CODING_AGENT_DIR: agentDir, HOME: home };
	return { agentDir, cwd, home, root, env };
}

/** Starts a session whose user accepts after something happened. @returns the answer of `/say`, and what was asked and reported */
async function say({ agentDir, cwd, env }: ReturnType<typeof place>, meanwhile: () => void = () => {}) {
	const questions: ProjectSet[] = [];
	const { session, notices } = await startSession({
		...{ agentDir, cwd, env },
		askTrust: async (set) => {
			questions.push(set);
			meanwhile();
			return "once";
		},
	});
	const before = notices().length;
	if (session.loaded.hooks.length > 0) await session.prompt("/say");
	const [question] = questions;
	return {
		word: session.loaded.hooks.length > 0 ? (notices()[before] ?? null) : null,
		notices: notices().slice(0, before),
		files: (question?.files ?? []).map(({ title, rel }) => title ?? rel),
		unresolved: (question?.unresolved ?? []).map(({ from, specifier, reason }) => `${from}: ${specifier}: ${reason}`),
	};
}

describe("a package at a path", () => {
	test("shows and hashes its own files and the dependencies that it needs, whatever else is in node_modules", async () => {
		const it = place({
			"hooks/say.ts": hook("left + data.word", 'import left from "left";\nimport data from "json";\n'),
		});
		for (let at = 0; at < 300; at++) {
			writeFiles(join(it.root, `node_modules/dev-${at}`), { "package.json": { name: `dev-${at}` }, "index.js": "" });
		}
		expect(await say(it)).toEqual({
			word: "leftjson",
			notices: [],
			files: ["hooks/say.ts", "package.json", "node_modules/json 1.0.0", "node_modules/left 1.0.0"],
			unresolved: [],
		});
	});

	test("cannot load its devDependencies, and the question says so", async () => {
		const it = place({ "hooks/say.ts": hook("dev", 'import dev from "dev";\n') });
		const { word, notices, unresolved } = await say(it);
		expect([word, unresolved]).toEqual([null, ["hooks/say.ts: dev: not installed"]]);
		expect(notices.join("\n")).toContain("dev");
	});

	test("is not asked about again when a devDependency changes", async () => {
		const it = place({ "hooks/say.ts": hook('"own"') });
		const gate = () => {
			const paths = findPaths(it.env, it.cwd, it.home);
			return new PackageGate({
				...{ paths, env: it.env, trust: undefined, run: [], discovery: true, copyDir: paths.projectCache },
				settings: new SettingsStore(paths),
				ask: async () => {
					asked++;
					return "trust";
				},
			});
		};
		let asked = 0;
		await gate().accept(() => {});
		writeFileSync(join(it.root, "node_modules/dev/index.js"), "changed");
		await gate().accept(() => {});
		expect(asked).toBe(1);
		writeFileSync(join(it.root, "node_modules/left/index.js"), "changed");
		await gate().accept(() => {});
		expect(asked).toBe(2);
	});
});

describe("the bytes that were shown are the bytes that run", () => {
	test.each<[string, (root: string) => void]>([
		["a file of the package changes", (root) => writeFileSync(join(root, "hooks/say.ts"), hook('"evil"'))],
		["a file that it imports changes", (root) => writeFileSync(join(root, "lib/word.ts"), 'export default "evil";')],
		["a JSON file that it imports changes", (root) => writeFileSync(join(root, "lib/word.json"), '{"word":"evil"}')],
		["a file appears that the import would prefer", (root) => writeFileSync(join(root, "lib/word.js"), "evil")],
		["package.json names another main", (root) => writeFileSync(join(root, "package.json"), '{"main":"evil.js"}')],
		[
			"a folder is replaced by a link to other code",
			(root) => {
				writeFiles(root, { "evil/word.ts": 'export default "evil";', "evil/word.json": '{"word":"evil"}' });
				renameSync(join(root, "lib"), join(root, "old"));
				symlinkSync("evil", join(root, "lib"));
			},
		],
	])("if %s during the question", async (_, change) => {
		const it = place({
			"hooks/say.ts": hook(
				"word + data.word",
				'import word from "../lib/word.js";\nimport data from "../lib/word.json";\n',
			)
				.replace("const word = word", "const text = word")
				.replace("String(word)", "String(text)"),
			"lib/word.ts": 'export default "good";\n',
			"lib/word.json": { word: " data" },
		});
		expect(await say(it, () => change(it.root))).toMatchObject({ word: "good data", notices: [] });
	});

	test.each<[string, (root: string) => void, string]>([
		["changes", (root) => writeFileSync(join(root, "node_modules/left/index.js"), "evil"), "node_modules/left"],
		["appears", (root) => writeFileSync(join(root, "node_modules/left/index.json"), "{}"), "node_modules/left"],
		[
			"is loaded because of another main",
			(root) => writeFileSync(join(root, "node_modules/left/package.json"), '{"version":"1.0.0","main":"other.js"}'),
			"node_modules/left",
		],
		["is data", (root) => writeFileSync(join(root, "node_modules/json/word.json"), "{}"), "node_modules/json"],
		[
			"is behind a new link",
			(root) => {
				renameSync(join(root, "node_modules/left"), join(root, "left"));
				symlinkSync("../left", join(root, "node_modules/left"));
			},
			"node_modules/left",
		],
	])("nothing is loaded if a file of a dependency %s during the question", async (_, change, name) => {
		const it = place({ "hooks/say.ts": hook("left", 'import left from "left";\n') });
		expect(await say(it, () => change(it.root))).toMatchObject({
			word: null,
			notices: [`Package ${it.root} was not loaded: it changed during the question: ${name} · /reload asks again`],
		});
	});

	test("links and paths that leave the package load nothing, and the question names them", async () => {
		const it = place({ "hooks/say.ts": hook("outside", 'import outside from "../lib/outside.js";\n') });
		const outside = tempDir();
		writeFiles(outside, { "outside.js": 'export default "evil";\n' });
		mkdirSync(join(it.root, "lib"));
		symlinkSync(join(outside, "outside.js"), join(it.root, "lib/outside.js"));
		const linked = await say(it);
		expect([linked.word, linked.unresolved]).toEqual([
			null,
			[`lib/outside.js: ${join(outside, "outside.js")}: a link that leaves the package`],
		]);
		const relative = `../../${outside.split("/").at(-1)}/outside.js`;
		writeFileSync(join(it.root, "hooks/say.ts"), hook("outside", `import outside from ${JSON.stringify(relative)};\n`));
		const left = await say(it);
		expect([left.word, left.unresolved[1]]).toEqual([null, `hooks/say.ts: ${relative}: outside the package`]);
		expect(existsSync(join(outside, "outside.js"))).toBe(true);
	});

	test("imports that pi cannot follow are named in the question", async () => {
		const it = place({
			"hooks/say.ts": hook(
				'"x"',
				'import { createRequire } from "node:module";\nconst name = "/a";\nconst load = () => import(name);\nconst other = () => require("/absolute.js");\nimport.meta.resolve?.("./say.ts");\nimport "from-node-path";\n',
			),
		});
		expect((await say(it)).unresolved).toEqual([
			"hooks/say.ts: from-node-path: not installed",
			"hooks/say.ts: import(…): computed at run time",
			"hooks/say.ts: /absolute.js: outside the package",
		]);
	});

	test("imports of tests that the package does not load are not named, unless they lead elsewhere", async () => {
		const it = place({
			"package.json": { name: "demo", devDependencies: { vitest: ">=3" } },
			"hooks/say.ts": hook('"x"', 'import "../lib/say.test.ts";\n'),
			"lib/say.test.ts": 'import "vitest";\n',
			"test/say.test.ts": 'import "vitest";\nimport "@mariozechner/pi-coding-agent/testing";\nimport "./helper.ts";\n',
			"test/helper.ts": 'import "vitest/node";\nimport "left-pad";\nimport "/absolute.js";\n',
			"more.ts": 'import "vitest";\n',
		});
		expect((await say(it)).unresolved).toEqual([
			"lib/say.test.ts: vitest: not installed",
			"more.ts: vitest: not installed",
			"test/helper.ts: left-pad: not installed",
			"test/helper.ts: /absolute.js: outside the package",
		]);
	});

	test("the copy is readable only by the user, and is written again if something in it changed", async () => {
		const it = place({ "hooks/say.ts": hook('"good"') });
		const { root, ...options } = it;
		const { session } = await startSession({ ...options, askTrust: async () => "trust" });
		const [loaded] = session.loaded.hooks;
		expect(loaded?.path).toBe(join(root, "hooks/say.ts"));
		const gate = new PackageGate({
			...{ paths: findPaths(it.env, it.cwd, it.home), env: it.env, trust: undefined, run: [], discovery: true },
			copyDir: findPaths(it.env, it.cwd, it.home).projectCache,
			settings: new SettingsStore(findPaths(it.env, it.cwd, it.home)),
		});
		const [hookFile] = (await gate.accept(() => {})).hooks;
		writeFileSync(hookFile?.realPath ?? "", "evil");
		const [again] = (await gate.accept(() => {})).hooks;
		expect(readFileSync(again?.realPath ?? "", "utf8")).toBe(hook('"good"'));
	});
});
