import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
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
	return file.replace(/(\.[\w-]{8})?\.cjs$/, "");
}

/** A file of the bundle that another one loads. */
const LOADED = /\brequire\("\.\/([^"]+)"\)/g;

/** The files that a file loads before its own code runs. A file begins with these; functions load the rest later. */
function loadedFirst(file: string): string[] {
	const [beginning = ""] = readFileSync(join(DIST, file), "utf8").split(/=>|\bfunction\b/, 1);
	return [...beginning.matchAll(LOADED)].map(([, path = ""]) => path);
}

/** The package, as it is installed. */
const PACKAGE = dirname(DIST);

/** Files that are read before the first line of these files runs: the files and all that they load first. */
function filesReadBy(...names: string[]): string[] {
	const files = new Set(names.map(fileNamed));
	for (const file of files) for (const path of loadedFirst(file)) files.add(path);
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

/** What is loaded for a session, and later than the first paint. */
const OF_SESSIONS = ["headless", "session-headless", "model-client"];

// A first paint may take 1.3 times that of the library's editor, and each file and its size count. The budgets below allow a
// tenth more than there was when they were set; `npm run bench` measures the time itself.
test("the first paint reads a few files, but neither session nor models", () => {
	const files = readBy("main", "screen");
	expect(files.filter((name) => OF_SESSIONS.includes(name))).toEqual([]);
	expect(files.length).toBeLessThanOrEqual(6);
	expect(kilobytes(files)).toBeLessThan(490);
	// Loading it takes Node 3 ms.
	const sources = files.map((name) => readFileSync(join(DIST, fileNamed(name)), "utf8"));
	expect(sources.filter((source) => source.includes("node:crypto"))).toEqual([]);
});

test("options on the command line delay the first paint only by their parser", () => {
	const first = readBy("main", "screen");
	const more = readBy("main", "screen", "command-line", "accepted-names").filter((name) => !first.includes(name));
	expect(more.filter((name) => OF_SESSIONS.includes(name))).toEqual([]);
	expect(kilobytes(more)).toBeLessThan(60);
});

test("print mode reads no screen, and no model client before it knows the provider", () => {
	const files = readBy("main", "headless", "model-client");
	expect(files).not.toContain("screen");
	// Each of the two takes Node a millisecond, and is loaded when it is first used.
	const sources = files.map((name) => readFileSync(join(DIST, fileNamed(name)), "utf8"));
	expect(sources.filter((source) => /require\("node:fs\/promises"\)|\bperformance\./.test(source))).toEqual([]);
	expect(sources.filter((source) => /anthropic-version|chat\/completions|generateContent/.test(source))).toEqual([]);
});

test.each(["index", "hooks", "testing", "headless", "session-headless"])(
	"%s reads neither screen nor models",
	(name) => {
		expect(readBy(name).filter((read) => read === "screen" || read === "model-client")).toEqual([]);
	},
);

test("only pi acp reads code of the Agent Client Protocol", () => {
	const has = (name: string) =>
		readFileSync(join(DIST, fileNamed(name)), "utf8").includes("session/request_permission");
	expect(
		readBy("main", "screen", "headless", "session-headless", "model-client", "index", "hooks").filter(has),
	).toEqual([]);
	expect(readBy("run-acp").filter(has)).toEqual(["run-acp"]);
});

test("no code of the adapter for extensions is read without an extension", () => {
	const has = (file: string) => readFileSync(join(DIST, file), "utf8").includes("is not available in pi: ");
	expect(
		filesReadBy("main", "screen", "headless", "model-client", "session-headless", "hooks", "index").filter(has),
	).toEqual([]);
	// One file, because each takes Node a millisecond; an extension without imports of values needs no other.
	const isOfAdapter = (file: string) => !filesReadBy("main", "headless", "session-headless", "hooks").includes(file);
	expect(filesReadBy("adapter").filter(isOfAdapter)).toEqual([fileNamed("adapter")]);
	expect(filesReadBy("adapter").filter(has)).toHaveLength(1);
	expect(kilobytes(["adapter"])).toBeLessThan(48);
});

test("no code of packages is read without a configured package", () => {
	const has = (file: string) => readFileSync(join(DIST, file), "utf8").includes("differs from packages.lock.json");
	expect(
		filesReadBy("main", "screen", "headless", "model-client", "session-headless", "hooks", "index").filter(has),
	).toEqual([]);
	expect(filesReadBy("package-code").filter(has)).toHaveLength(1);
	expect(kilobytes(["package-code"])).toBeLessThan(50);
});

test("no code of MCP is read without a configured server, and its client only when a server starts", () => {
	const contains = (text: string) => (file: string) => readFileSync(join(DIST, file), "utf8").includes(text);
	const [tools, client] = [contains("mcp_search"), contains("notifications/tools/list_changed")];
	const started = filesReadBy("main", "screen", "headless", "model-client", "session-headless");
	expect(started.filter((file) => tools(file) || client(file))).toEqual([]);
	const configured = filesReadBy("servers");
	expect(configured.filter(tools)).toHaveLength(1);
	expect(configured.filter(client)).toEqual([]);
	expect(filesReadBy("connection").filter(client)).toHaveLength(1);
	expect(kilobytes(["servers"])).toBeLessThan(40);
});

test("the libraries that read web pages are read by the thread that converts a page only", () => {
	const has = (file: string) => readFileSync(join(DIST, file), "utf8").includes("maxElemsToParse");
	expect(
		filesReadBy("main", "screen", "headless", "model-client", "session-headless", "hooks", "index").filter(has),
	).toEqual([]);
	expect(filesReadBy("page-worker").filter(has)).toHaveLength(1);
});

test("an installation takes at most 40 MB and 30 packages", () => {
	const paths = readdirSync(PACKAGE, { recursive: true, encoding: "utf8" });
	const bytes = paths.reduce((sum, path) => sum + lstatSync(join(PACKAGE, path)).size, 0);
	expect(bytes / 1e6).toBeLessThan(40);
	const packages = paths.filter((path) => /(^|\/)node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
	expect(packages.length).toBeLessThanOrEqual(30);
});

test("the package entries have the same exports as their sources", async () => {
	/** Node adds names for the whole module to those of the module. */
	const added = ["default", "module.exports"];
	const built = async (name: string) =>
		Object.keys(await import(join(DIST, `${name}.cjs`)))
			.filter((exported) => !added.includes(exported))
			.sort();
	expect({ index: await built("index"), hooks: await built("hooks") }).toEqual({
		index: Object.keys(sdk).sort(),
		hooks: Object.keys(hooks).sort(),
	});
});

test("an uncaught error prints the name of its class, and a short line of the bundle", () => {
	const program = `require(${JSON.stringify(join(DIST, "index.cjs"))}).createAgentSession({ trust: "no" })`;
	const { stderr } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8" });
	expect(stderr).toContain("\nPiError: trust must be true or false\n");
	expect(stderr.length).toBeLessThan(4000);
});

test("no files of the bundle load each other: one of them would see the other unfinished", () => {
	const files = readdirSync(DIST).filter((file) => file.endsWith(".cjs"));
	const reaches = (from: string, wanted: string, seen = new Set<string>()): boolean =>
		loadedFirst(from).some((file) => {
			if (file === wanted || seen.has(file)) return file === wanted;
			return reaches(file, wanted, seen.add(file));
		});
	expect(files.length).toBeGreaterThan(100);
	expect(files.filter((file) => reaches(file, file))).toEqual([]);
});
