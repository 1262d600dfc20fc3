import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { init, parse } from "es-module-lexer";
import { expect, test } from "vitest";
import * as hooks from "../../src/hooks/index.js";
import * as sdk from "../../src/index.js";
import { piProgram } from "../helpers/pi-environment.js";

const DIST = join(dirname(realpathSync(piProgram())), "..", "dist");

/** The file in dist/ with this name; names of files that are not entries end in a hash. */
function fileNamed(name: string): string {
	const file = readdirSync(DIST).find((candidate) => nameOf(candidate) === name);
	if (!file) throw new Error(`dist/ has no ${name}`);
	return file;
}

function nameOf(file: string): string {
	return file.replace(/(-.{8})?\.js$/, "");
}

/** Files that are read before the first line of these files runs: the files and all their imports. */
function filesReadBy(...names: string[]): string[] {
	const files = new Set(names.map(fileNamed));
	for (const file of files) {
		const [imports] = parse(readFileSync(join(DIST, file), "utf8"));
		for (const { n: path, d: dynamic } of imports) {
			if (dynamic === -1 && path?.startsWith("./")) files.add(path.slice(2));
		}
	}
	return [...files];
}

/** `filesReadBy`, by name and in order. */
function readBy(...names: string[]): string[] {
	return filesReadBy(...names)
		.map(nameOf)
		.sort();
}

function kilobytes(names: readonly string[]): number {
	return names.reduce((sum, name) => sum + statSync(join(DIST, fileNamed(name))).size, 0) / 1000;
}

test("the first paint reads a few files, but neither session nor models", async () => {
	await init;
	const files = readBy("main", "screen");
	expect(files).toEqual(["main", "rolldown-runtime", "screen", "screen-headless", "screen-session-headless"]);
	expect(kilobytes(files)).toBeLessThan(410);
	// Loading it takes Node 3 ms.
	const sources = files.map((name) => readFileSync(join(DIST, fileNamed(name)), "utf8"));
	expect(sources.filter((source) => source.includes("node:crypto"))).toEqual([]);
});

test("options on the command line delay the first paint only by their parser", async () => {
	await init;
	const first = readBy("main", "screen");
	const more = readBy("main", "screen", "args", "accepted-names").filter((name) => !first.includes(name));
	expect(more).toEqual(["accepted-names", "args"]);
	expect(kilobytes(more)).toBeLessThan(60);
});

test("print mode reads no screen, and no model client before it knows the provider", async () => {
	await init;
	expect(readBy("main", "headless", "models")).toEqual([
		"headless",
		"hooks",
		"main",
		"models",
		"rolldown-runtime",
		"screen-headless",
		"screen-session-headless",
		"session-headless",
	]);
});

test.each(["index", "hooks", "testing", "headless", "session-headless"])(
	"%s reads neither screen nor models",
	async (name) => {
		await init;
		expect(readBy(name).filter((read) => read === "screen" || read === "models")).toEqual([]);
	},
);

test("only pi acp reads code of the Agent Client Protocol", async () => {
	await init;
	const has = (name: string) =>
		readFileSync(join(DIST, fileNamed(name)), "utf8").includes("session/request_permission");
	expect(readBy("main", "screen", "headless", "session-headless", "models", "index", "hooks").filter(has)).toEqual([]);
	expect(readBy("run-acp").filter(has)).toEqual(["run-acp"]);
});

test("no code of the adapter for extensions is read without an extension", async () => {
	await init;
	const has = (file: string) => readFileSync(join(DIST, file), "utf8").includes("is not available in pi: ");
	expect(filesReadBy("main", "screen", "headless", "models", "session-headless", "hooks", "index").filter(has)).toEqual(
		[],
	);
	// One file, because each takes Node a millisecond; an extension without imports of values needs no other.
	const isOfAdapter = (file: string) => !filesReadBy("main", "headless", "session-headless", "hooks").includes(file);
	expect(filesReadBy("adapter").filter(isOfAdapter)).toEqual([fileNamed("adapter")]);
	expect(filesReadBy("adapter").filter(has)).toHaveLength(1);
	expect(kilobytes(["adapter"])).toBeLessThan(40);
});

test("no code of packages is read without a configured package", async () => {
	await init;
	const has = (file: string) => readFileSync(join(DIST, file), "utf8").includes("differs from packages.lock.json");
	expect(filesReadBy("main", "screen", "headless", "models", "session-headless", "hooks", "index").filter(has)).toEqual(
		[],
	);
	expect(filesReadBy("package-code").filter(has)).toHaveLength(1);
	expect(kilobytes(["package-code"])).toBeLessThan(50);
});

test("no code of MCP is read without a configured server, and its client only when a server starts", async () => {
	await init;
	const contains = (text: string) => (file: string) => readFileSync(join(DIST, file), "utf8").includes(text);
	const [tools, client] = [contains("mcp_search"), contains("notifications/tools/list_changed")];
	const started = filesReadBy("main", "screen", "headless", "models", "session-headless");
	expect(started.filter((file) => tools(file) || client(file))).toEqual([]);
	const configured = filesReadBy("servers");
	expect(configured.filter(tools)).toHaveLength(1);
	expect(configured.filter(client)).toEqual([]);
	expect(filesReadBy("connection").filter(client)).toHaveLength(1);
	expect(kilobytes(["servers"])).toBeLessThan(40);
});

test("the package entries have the same exports as their sources", async () => {
	const built = async (name: string) => Object.keys(await import(join(DIST, `${name}.js`))).sort();
	expect({ index: await built("index"), hooks: await built("hooks") }).toEqual({
		index: Object.keys(sdk).sort(),
		hooks: Object.keys(hooks).sort(),
	});
});
