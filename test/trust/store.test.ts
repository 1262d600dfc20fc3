import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findProjectSet, isTrusted, loadTrust, storeTrust, trustedText, untrust } from "../../src/trust/store.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const HOOK = 'import { help } from "../../lib/help.js";\nexport default () => help();\n';

function project(files: Record<string, string> = {}) {
	const cwd = join(tempDir(), "project");
	const agentDir = join(tempDir(), "agent");
	mkdirSync(cwd);
	writeFiles(cwd, files);
	const look = () => findProjectSet(cwd, loadTrust(agentDir));
	const states = async () => Object.fromEntries((await look()).files.map(({ rel, state }) => [rel, state]));
	return { cwd, agentDir, look, states };
}

describe("the code of a project", () => {
	test("includes hooks, tools and their imports in the project, transitively, each read and hashed once", async () => {
		const files = {
			".pi/hooks/a.ts": HOOK,
			".pi/hooks/notes.md": "text",
			".pi/hooks/pack/index.ts": 'import "./part"',
			".pi/hooks/pack/part.ts": "",
			".pi/tools/t/index.ts": 'export { x } from "../../../lib/dir"; import data from "../../../lib/data.json"',
			"lib/help.ts": 'import "./deep/one.mjs"',
			"lib/deep/one.mjs": 'require("../help.js")',
			"lib/dir/index.ts": "",
			"lib/data.json": "{}",
			"lib/unused.ts": "",
			".pi/hooks/node_modules/dep/index.js": "",
			".pi/settings.json": "{}",
		};
		const { cwd, look } = project(files);
		const set = await look();
		expect(set).toMatchObject({ root: cwd, unresolved: [] });
		expect(set.files.map(({ rel }) => rel)).toEqual([
			".pi/hooks/a.ts",
			".pi/hooks/notes.md",
			".pi/hooks/pack/index.ts",
			".pi/hooks/pack/part.ts",
			".pi/tools/t/index.ts",
			"lib/data.json",
			"lib/deep/one.mjs",
			"lib/dir/index.ts",
			"lib/help.ts",
		]);
		expect(set.files[0]).toEqual({
			rel: ".pi/hooks/a.ts",
			realPath: join(cwd, ".pi/hooks/a.ts"),
			bytes: Buffer.from(HOOK),
			sha256: createHash("sha256").update(HOOK).digest("hex"),
			size: HOOK.length,
			state: "new",
		});
	});

	test("lists imports that cannot be followed as unresolved", async () => {
		const { cwd, look } = project({
			".pi/hooks/a.ts": 'import "left-pad"; import "./missing.js"; import "../../../outside/x.js"; import(name)',
		});
		writeFiles(join(cwd, "../outside"), { "x.js": "" });
		const { unresolved, files } = await look();
		expect(files.map(({ rel }) => rel)).toEqual([".pi/hooks/a.ts"]);
		expect(unresolved).toEqual([
			{ from: ".pi/hooks/a.ts", specifier: "left-pad", reason: "a package" },
			{ from: ".pi/hooks/a.ts", specifier: "import(…)", reason: "computed at run time" },
			{ from: ".pi/hooks/a.ts", specifier: "./missing.js", reason: "not found" },
			{ from: ".pi/hooks/a.ts", specifier: "../../../outside/x.js", reason: "outside the project" },
		]);
	});

	test("may contain imports with invalid file names", async () => {
		const { look, cwd } = project({
			".pi/hooks/a.ts": `import "./\0"; import "./${"x".repeat(5000)}"; import "./a.ts/b"`,
		});
		symlinkSync("circle.ts", join(cwd, ".pi/hooks/circle.ts"));
		const { files, unresolved } = await look();
		expect(files.map(({ rel }) => rel)).toEqual([".pi/hooks/a.ts"]);
		expect(unresolved.map(({ reason }) => reason)).toEqual(["a broken link", "not found", "not found", "not found"]);
	});

	test("includes the targets of links once, and reports special files without opening them", async () => {
		const { cwd, look } = project({
			".pi/hooks/a.ts": "",
			"src/linked.ts": 'import "./beside.js"',
			"src/beside.ts": "",
		});
		symlinkSync("../../src/linked.ts", join(cwd, ".pi/hooks/link.ts"));
		symlinkSync(".", join(cwd, ".pi/hooks/loop"));
		symlinkSync("nowhere.ts", join(cwd, ".pi/hooks/dead.ts"));
		execFileSync("mkfifo", [join(cwd, ".pi/hooks/pipe.ts")]);
		const set = await look();
		expect(set.files.map(({ rel, realPath }) => [rel, realPath])).toEqual([
			[".pi/hooks/a.ts", join(cwd, ".pi/hooks/a.ts")],
			[".pi/hooks/link.ts", join(cwd, "src/linked.ts")],
			["src/beside.ts", join(cwd, "src/beside.ts")],
		]);
		expect(set.unresolved.map(({ from, reason }) => [from, reason.replace(cwd, "")])).toEqual([
			[".pi/hooks/dead.ts", "a broken link"],
			[".pi/hooks/pipe.ts", "Cannot read /.pi/hooks/pipe.ts: it is a FIFO"],
		]);
	});

	test("is trusted if it is empty", async () => {
		const set = await project().look();
		expect([set.files, isTrusted(set)]).toEqual([[], true]);
	});

	test("is never trusted if it has too many files", async () => {
		const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`.pi/hooks/${index}.ts`, ""]));
		const { look, agentDir } = project(many);
		const set = await look();
		expect(set.incomplete).toBe("more than 1000 files");
		await storeTrust(agentDir, set);
		expect(isTrusted(await look())).toBe(false);
	});
});

describe("trust", () => {
	test("depends on contents: a changed, added or newly imported file is not trusted", async () => {
		const { cwd, agentDir, look, states } = project({ ".pi/hooks/a.ts": HOOK, "lib/help.ts": "v1" });
		expect(isTrusted(await look())).toBe(false);
		await storeTrust(agentDir, await look());
		expect(isTrusted(await look())).toBe(true);
		writeFiles(cwd, { "lib/help.ts": "v2", ".pi/hooks/b.ts": "" });
		expect(await states()).toEqual({ ".pi/hooks/a.ts": "trusted", ".pi/hooks/b.ts": "new", "lib/help.ts": "changed" });
		const set = await look();
		expect(isTrusted(set)).toBe(false);
		expect(trustedText(agentDir, set.files.find(({ rel }) => rel === "lib/help.ts")?.trustedSha256 ?? "")).toBe("v1");
		writeFiles(cwd, { "lib/help.ts": "v1" });
		execFileSync("rm", [join(cwd, ".pi/hooks/b.ts")]);
		expect(isTrusted(await look())).toBe(true);
	});

	test("applies to the bytes that were shown, not to the file when the user answers", async () => {
		const { cwd, agentDir, look, states } = project({ ".pi/hooks/a.ts": "shown" });
		const shown = await look();
		writeFiles(cwd, { ".pi/hooks/a.ts": "swapped" });
		await storeTrust(agentDir, shown);
		expect(await states()).toEqual({ ".pi/hooks/a.ts": "changed" });
	});

	test("applies to the real path of the project and to no other directory", async () => {
		const { cwd, agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		await storeTrust(agentDir, await look());
		const link = join(tempDir(), "link");
		symlinkSync(cwd, link);
		const other = project({ ".pi/hooks/a.ts": "x" });
		expect(isTrusted(await findProjectSet(link, loadTrust(agentDir)))).toBe(true);
		expect(isTrusted(await findProjectSet(other.cwd, loadTrust(agentDir)))).toBe(false);
	});

	test("is stored in a private file in the documented format", async () => {
		const { cwd, agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		const set = await look();
		await storeTrust(agentDir, set);
		const file = join(agentDir, "trust.json");
		const sha256 = set.files[0]?.sha256;
		expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
			version: 1,
			projects: { [cwd]: { files: { ".pi/hooks/a.ts": sha256 }, at: (await look()).trustedAt } },
		});
		const modes = [file, join(agentDir, "trusted"), join(agentDir, "trusted", `${sha256}.txt`)];
		expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700, 0o600]);
	});

	test("can be revoked, which deletes unused copies", async () => {
		const { cwd, agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		await storeTrust(agentDir, await look());
		expect([await untrust(agentDir, cwd), await untrust(agentDir, cwd)]).toEqual([true, false]);
		expect(isTrusted(await look())).toBe(false);
		expect(readdirSync(join(agentDir, "trusted"))).toEqual([]);
	});

	test("keeps copies that are in use, and other files in their directory", async () => {
		const { cwd, agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		const set = await look();
		await storeTrust(agentDir, set);
		const texts = join(agentDir, "trusted");
		const copy = join(texts, `${set.files[0]?.sha256}.txt`);
		const { ino } = statSync(copy);
		const unused = "0".repeat(64);
		writeFiles(texts, { [`${unused}.txt`]: "", [`my-${unused}.txt`]: "", [`${unused}.txt.bak`]: "" });
		await storeTrust(agentDir, set);
		expect(statSync(copy).ino).toBe(ino);
		await untrust(agentDir, cwd);
		expect(readdirSync(texts).sort()).toEqual([`${unused}.txt.bak`, `my-${unused}.txt`]);
	});

	test("ignores malformed projects and digests in trust.json, and reads the others", () => {
		const agentDir = tempDir();
		const at = "2026-01-02T03:04:05.000Z";
		const projects = {
			"/good": { files: { "a.ts": "1", "b.ts": 2, "c.ts": null }, at },
			"/null": null,
			"/files": { files: "a.ts", at },
			"/no-files": { at },
			"/at": { files: { "a.ts": "1" }, at: 1 },
		};
		const expected = { projects: new Map([["/good", { files: { "a.ts": "1" }, at }]]) };
		writeFiles(agentDir, { "trust.json": { projects } });
		expect(loadTrust(agentDir)).toEqual(expected);
		writeFiles(agentDir, { "trust.json": { version: 1, projects } });
		expect(loadTrust(agentDir)).toEqual(expected);
	});

	test("is empty if trust.json is invalid; the file is reported, and the next change renames it", async () => {
		const { agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		await storeTrust(agentDir, await look());
		const file = join(agentDir, "trust.json");
		writeFileSync(file, "{");
		expect(loadTrust(agentDir).warning).toContain(
			`${file}:1:2: unexpected end of file: the "{" in line 1 is not closed`,
		);
		expect(isTrusted(await look())).toBe(false);
		const { keptAside } = await storeTrust(agentDir, await look());
		expect(readFileSync(keptAside ?? "", "utf8")).toBe("{");
		expect(isTrusted(await look())).toBe(true);
	});

	test.each([
		[
			"a later version",
			(root: string, sha256: string) => ({
				version: 2,
				projects: { [root]: { files: { ".pi/hooks/a.ts": sha256 }, at: "x" } },
			}),
		],
		["a list of files", (root: string) => ({ version: 1, projects: { [root]: { files: ["*"], at: "x" } } })],
		["a list", () => ({ projects: [] })],
	])("is empty for a trust.json with %s", async (_name, content) => {
		const { cwd, agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		writeFiles(agentDir, { "trust.json": content(cwd, (await look()).files[0]?.sha256 ?? "") });
		expect(isTrusted(await look())).toBe(false);
	});

	test("a modified copy is not shown as the trusted text", async () => {
		const { agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		const set = await look();
		await storeTrust(agentDir, set);
		const sha256 = set.files[0]?.sha256 ?? "";
		writeFileSync(join(agentDir, "trusted", `${sha256}.txt`), "y");
		expect([trustedText(agentDir, sha256), trustedText(agentDir, "../../etc/passwd")]).toEqual([undefined, undefined]);
	});

	test("trusting the same contents again replaces a damaged copy", async () => {
		const { agentDir, look } = project({ ".pi/hooks/a.ts": "x" });
		const set = await look();
		await storeTrust(agentDir, set);
		const sha256 = set.files[0]?.sha256 ?? "";
		writeFileSync(join(agentDir, "trusted", `${sha256}.txt`), "y");
		await storeTrust(agentDir, set);
		expect(trustedText(agentDir, sha256)).toBe("x");
	});
});
