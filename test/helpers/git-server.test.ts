import { execFile } from "node:child_process";
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type GitServer, startGitServer } from "./git-server.js";
import { isObject } from "./json.js";
import { tempDir } from "./temp.js";

/** Runs the real git. @returns its exit code and what it printed */
async function git(server: GitServer, cwd: string, ...args: string[]) {
	try {
		const env = { PATH: process.env.PATH, ...server.env };
		const { stdout } = await promisify(execFile)("git", args, { cwd, env });
		return { code: 0, output: stdout.trim() };
	} catch (error) {
		if (!isObject(error)) throw error;
		return { code: error.code, output: `${error.stdout}${error.stderr}` };
	}
}

test("git clones a repository over http, with links and programs", async () => {
	const server = await startGitServer();
	const repository = await server.create("user/demo");
	const id = await repository.commit({
		"a.txt": "one\n",
		"dir/run.sh": { program: "#!/bin/sh\n" },
		"dir/link": { link: "../a.txt" },
	});
	const cwd = tempDir();
	expect(await git(server, cwd, "clone", "--quiet", repository.url, "demo")).toEqual({ code: 0, output: "" });
	expect(readFileSync(join(cwd, "demo/a.txt"), "utf8")).toBe("one\n");
	expect(readlinkSync(join(cwd, "demo/dir/link"))).toBe("../a.txt");
	expect(lstatSync(join(cwd, "demo/dir/run.sh")).mode & 0o111).not.toBe(0);
	expect(await git(server, join(cwd, "demo"), "rev-parse", "HEAD")).toEqual({ code: 0, output: id });
	expect(server.requests).toEqual([
		"GET /user/demo.git/info/refs?service=git-upload-pack",
		"POST /user/demo.git/git-upload-pack",
		"POST /user/demo.git/git-upload-pack",
	]);
});

test("a branch, a tag and a commit can be fetched, also without their history", async () => {
	const server = await startGitServer();
	const repository = await server.create("demo");
	const first = await repository.commit({ "a.txt": "one\n", "old.txt": "" });
	await repository.tag("v1.0.0");
	const side = await repository.commit({ "a.txt": "side\n" }, "side");
	const second = await repository.commit({ "a.txt": "two\n" });
	for (const [ref, id, text] of [
		["main", second, "two\n"],
		["v1.0.0", first, "one\n"],
		["side", side, "side\n"],
		[first, first, "one\n"],
	] as const) {
		const cwd = tempDir();
		await git(server, cwd, "init", "--quiet");
		expect(await git(server, cwd, "fetch", "--quiet", "--depth=1", repository.url, ref)).toEqual({
			code: 0,
			output: "",
		});
		await git(server, cwd, "checkout", "--quiet", "FETCH_HEAD");
		expect(await git(server, cwd, "rev-parse", "HEAD")).toEqual({ code: 0, output: id });
		expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe(text);
		expect(existsSync(join(cwd, "old.txt"))).toBe(ref === "v1.0.0" || ref === first);
	}
});

test("a later commit, a moved tag and a rewritten branch are fetched", async () => {
	const server = await startGitServer();
	const repository = await server.create("demo");
	const list = async () => {
		const { output } = await git(server, tempDir(), "ls-remote", repository.url, "refs/heads/main", "refs/tags/v1");
		return output.split("\n").map((line) => line.split("\t")[0]);
	};
	const first = await repository.commit({ "a.txt": "one\n" });
	await repository.tag("v1");
	expect(await list()).toEqual([first, first]);
	const second = await repository.commit({ "a.txt": "two\n" });
	expect(await list()).toEqual([second, first]);
	await repository.tag("v1");
	expect(await list()).toEqual([second, second]);
	const third = await repository.rewrite({ "a.txt": "three\n" });
	expect(await list()).toEqual([third, second]);
	const fourth = await repository.commit({ "a.txt": "four\n" });
	expect(await list()).toEqual([fourth, second]);
});

test.each([
	[{ status: 404 }, "not found"],
	[{ status: 401 }, "could not read Username"],
	[{ status: 503 }, "503"],
	["garbage", "not valid|fatal"],
	["cut", "fatal"],
] as const)("git reports a server that fails with %j", async (fault, reason) => {
	const server = await startGitServer();
	const repository = await server.create("demo");
	await repository.commit({ "a.txt": "one\n" });
	repository.fail(fault);
	const { code, output } = await git(server, tempDir(), "ls-remote", repository.url);
	expect(code).toBe(128);
	expect(output).toMatch(new RegExp(reason));
	repository.fail(undefined);
	expect(await git(server, tempDir(), "ls-remote", repository.url)).toMatchObject({ code: 0 });
});

test("git reports a repository that does not exist", async () => {
	const server = await startGitServer();
	const { code, output } = await git(server, tempDir(), "ls-remote", `${server.url}/missing.git`);
	expect([code, output]).toEqual([128, expect.stringContaining("not found")]);
});
