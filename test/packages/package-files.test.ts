import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { changedIn, readDependencies } from "../../src/packages/dependencies.js";
import { digest, readPackageFiles } from "../../src/packages/package-files.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

describe("readPackageFiles", () => {
	test("reads every file once, without dependencies and repositories", async () => {
		const dir = tempDir();
		writeFiles(dir, { "b.ts": "b", "a/a.md": "a", "node_modules/x/i.js": "x", ".git/hooks/post": "x", ".env": "e" });
		const { root, files, unresolved, incomplete } = await readPackageFiles(dir);
		expect([root, unresolved, incomplete]).toEqual([dir, [], undefined]);
		expect(files).toEqual(
			[
				[".env", "e"],
				["a/a.md", "a"],
				["b.ts", "b"],
			].map(([rel = "", text = ""]) => ({
				rel,
				realPath: join(dir, rel),
				bytes: Buffer.from(text),
				sha256: digest(text),
				size: 1,
			})),
		);
	});

	test("names links that leave the package or lead to a dependency, and does not follow them", async () => {
		const [dir, other] = [tempDir(), tempDir()];
		writeFiles(other, { "secret.ts": "secret" });
		writeFiles(dir, { "a.ts": "a", "node_modules/x/i.js": "x", "lib/b.ts": "b" });
		symlinkSync(join(other, "secret.ts"), join(dir, "out.ts"));
		symlinkSync("a.ts", join(dir, "in.ts"));
		symlinkSync("node_modules/x/i.js", join(dir, "dep.js"));
		symlinkSync("nowhere", join(dir, "broken.ts"));
		symlinkSync("lib", join(dir, "dir"));
		const { files, unresolved } = await readPackageFiles(dir);
		expect(files.map(({ rel }) => rel)).toEqual(["a.ts", "in.ts", "lib/b.ts"]);
		expect(unresolved.map(({ from, reason }) => `${from}: ${reason}`)).toEqual([
			`broken.ts: a broken link to ${join(dir, "nowhere")}`,
			"dep.js: a link to a dependency",
			"dir: a link to a directory",
			"out.ts: a link that leaves the package",
		]);
	});

	test("is incomplete with too many files", async () => {
		const dir = tempDir();
		writeFiles(dir, Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`f${at}`, ""])));
		expect((await readPackageFiles(dir)).incomplete).toBe("more than 2000 files");
	});
});

describe("readDependencies", () => {
	const place = () => {
		const dir = tempDir();
		const files = { "left/package.json": '{"version":"1.0.0"}', "left/index.js": "l", "@ada/right/index.js": "r" };
		writeFiles(join(dir, "node_modules"), files);
		const read = () =>
			readDependencies([{ path: join(dir, "node_modules"), label: "node_modules" }], join(dir, "cache.json"));
		return { dir, read, path: (rel: string) => join(dir, "node_modules", rel) };
	};

	test("lists each with version, size and the digests of its files", async () => {
		const { read } = place();
		const [right, left] = await read();
		expect(right).toMatchObject({ name: "node_modules/@ada/right", version: null, size: 1 });
		expect(left).toEqual({
			name: "node_modules/left",
			version: "1.0.0",
			size: 20,
			listing: `version 1.0.0\n${digest("l")} index.js\n${digest('{"version":"1.0.0"}')} package.json\n`,
			sha256: digest(left?.listing ?? ""),
			leaving: [],
		});
	});

	test.each<[string, (path: (rel: string) => string) => void, string]>([
		["a changed file", (path) => writeFileSync(path("left/index.js"), "x"), "index.js"],
		[
			"a file with its old time",
			(path) => {
				writeFileSync(path("left/index.js"), "x");
				utimesSync(path("left/index.js"), 1, 1);
			},
			"index.js",
		],
		["an added file", (path) => writeFileSync(path("left/more.js"), ""), "more.js"],
		["a removed file", (path) => rmSync(path("left/index.js")), "index.js"],
		[
			"a file in a dependency of a dependency",
			(path) => writeFiles(path("left"), { "node_modules/z/i.js": "" }),
			"node_modules/z/i.js",
		],
		["a link", (path) => symlinkSync("index.js", path("left/link.js")), "link.js"],
	])("notices %s, also with a cache", async (_, change, file) => {
		const { read, path } = place();
		utimesSync(path("left/index.js"), 1, 1);
		const before = (await read()).at(-1)?.listing ?? "";
		await read();
		change(path);
		expect(changedIn(before, (await read()).at(-1)?.listing ?? "")).toEqual([file]);
	});

	test("hashes a file of any size", async () => {
		const { read, path } = place();
		writeFileSync(path("left/index.js"), "");
		truncateSync(path("left/index.js"), 51 * 1024 * 1024);
		const [, left] = await read();
		expect(left?.listing).toContain(`${digest(Buffer.alloc(51 * 1024 * 1024))} index.js\n`);
	});

	test("lets other work run while it reads", async () => {
		const { read, path } = place();
		const files = Array.from({ length: 3000 }, (_, at) => [`left/${at % 50}/${at}.js`, "x".repeat(at)]);
		writeFiles(path(""), Object.fromEntries(files));
		let beats = 0;
		const timer = setInterval(() => beats++, 1);
		onTestFinished(() => clearInterval(timer));
		await read();
		expect(beats).toBeGreaterThan(2);
	});

	test("names links that leave the directory", async () => {
		const { dir, read, path } = place();
		mkdirSync(join(dir, "outside"));
		symlinkSync(join(dir, "outside"), path("linked"));
		expect((await read()).find(({ name }) => name === "node_modules/linked")?.leaving).toEqual([
			`. → ${join(dir, "outside")}`,
		]);
	});
});
