import { execFile } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startGitServer } from "../helpers/git-server.js";
import { PACKAGE_PLACE, PACKAGE_ROOT } from "../helpers/installed-package.js";
import { isObject, objects, parseJson } from "../helpers/json.js";
import { startNpmRegistry } from "../helpers/npm-registry.js";
import { definePackage } from "../helpers/package-files.js";
import { piPlace } from "../helpers/pi-environment.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Creates a package with the installed program. @returns its directory */
async function newPackage(): Promise<string> {
	const cwd = tempDir("pi-author-");
	expect(await runPi(["hooks", "new", "--package", "pi-notes"], { cwd })).toMatchObject({ code: 0, stderr: "" });
	return join(cwd, "pi-notes");
}

/** Links the test runner and TypeScript of this project, as npm would install them. */
function linkTools(dir: string): void {
	for (const [name, command, script] of [
		["vitest", "vitest", "vitest.mjs"],
		["typescript", "tsc", "bin/tsc"],
	] as const) {
		symlinkSync(join(PACKAGE_ROOT, "node_modules", name), join(dir, "node_modules", name));
		mkdirSync(join(dir, "node_modules/.bin"), { recursive: true });
		symlinkSync(join("..", name, script), join(dir, "node_modules/.bin", command));
	}
}

/** Runs npm in a directory. @returns exit code and output */
async function npm(cwd: string, args: string[], env: Readonly<Record<string, string>> = {}) {
	const place = piPlace({
		cwd,
		env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NO_COLOR: "1", ...env },
	});
	try {
		const { stdout, stderr } = await promisify(execFile)("npm", args, { cwd, env: place.env });
		return { code: 0, output: stdout, stderr };
	} catch (error) {
		if (!isObject(error)) throw error;
		return { code: error.code, output: `${error.stdout}${error.stderr}` };
	}
}

test("the test and the type check of a new package pass, and fail when the hook is wrong", async () => {
	const dir = await newPackage();
	linkTools(dir);
	expect(await npm(dir, ["test"])).toMatchObject({ code: 0, output: expect.stringContaining("1 passed") });
	expect(await npm(dir, ["run", "check"])).toMatchObject({ code: 0 });
	const hook = readFileSync(join(dir, "hooks/notes.ts"), "utf8");
	writeFiles(dir, { "hooks/notes.ts": hook.replace("git push", "git pull").replace("block: true", 'block: "yes"') });
	expect(await npm(dir, ["test"])).toMatchObject({
		code: 1,
		output: expect.stringContaining("Only the user may push"),
	});
	const checked = await npm(dir, ["run", "check"]);
	expect([checked.code, checked.output]).not.toEqual([0, expect.anything()]);
	expect(checked.output).toContain("hooks/notes.ts(");
});

test("npm packs the hook and the skill of a new package, and nothing else", async () => {
	const dir = await newPackage();
	const { code, output } = await npm(dir, ["pack", "--dry-run", "--json", "--ignore-scripts"]);
	expect(code).toBe(0);
	const packed: unknown = parseJson(output);
	const [report] = Array.isArray(packed) ? objects(packed) : isObject(packed) ? objects(Object.values(packed)) : [];
	expect(objects(report?.files).map(({ path }) => path)).toEqual([
		"README.md",
		"hooks/notes.ts",
		"package.json",
		"skills/notes/SKILL.md",
	]);
});

test("npm install in a new package keeps the link to pi, and does not install another pi", async () => {
	const dir = await newPackage();
	const registry = await startNpmRegistry();
	for (const name of ["vitest", "typescript", "@mariozechner/pi-coding-agent"]) {
		registry.publish(definePackage({ name, version: "9.0.0" }, {}));
	}
	expect(await npm(dir, ["install", "--no-audit", "--no-fund", "--no-update-notifier"], registry.env)).toMatchObject({
		code: 0,
	});
	expect(existsSync(join(dir, "node_modules/vitest/package.json"))).toBe(true);
	expect(lstatSync(join(dir, PACKAGE_PLACE)).isSymbolicLink()).toBe(true);
	expect(registry.requests.filter((request) => request.includes("pi-coding-agent"))).toEqual([]);
	// The lock file contains the path of the link.
	expect(readFileSync(join(dir, "package-lock.json"), "utf8")).toContain('"link": true');
	expect(readFileSync(join(dir, ".gitignore"), "utf8")).toBe("node_modules/\npackage-lock.json\n");
});

test("a new package is published as docs/packages.md says, and installed from where it was published", async () => {
	const [registry, server] = [await startNpmRegistry(), await startGitServer()];
	const repository = await server.create("ada/pi-notes");
	const dir = await newPackage();
	linkTools(dir);
	const person = { NAME: "Ada", EMAIL: "ada@example.com" };
	const identity = Object.entries(person).flatMap(([key, value]) =>
		["AUTHOR", "COMMITTER"].map((role) => [`GIT_${role}_${key}`, value] as const),
	);
	const env = { ...registry.env, ...server.env, ...Object.fromEntries(identity) };
	const run = async (program: string, ...args: string[]) => {
		const PATH = `${dirname(process.execPath)}:${process.env.PATH}`;
		return promisify(execFile)(program, args, { cwd: dir, env: { PATH, ...env } });
	};
	await run("git", "init", "--quiet", "--initial-branch=main");
	await run("git", "add", ".");
	await run("git", "commit", "--quiet", "--message", "Start");
	await run("git", "remote", "add", "origin", repository.url);
	const page = readFileSync(join(PACKAGE_ROOT, "docs/packages.md"), "utf8");
	const [, publish = ""] = page.split("\n## Publish\n");
	const commands = [...publish.matchAll(/```sh\n([\s\S]*?)\n```/g)].flatMap(([, lines = ""]) => lines.split("\n"));
	expect(commands).toHaveLength(5);
	for (const [program = "", ...args] of commands.map((line) => line.split(" "))) await run(program, ...args);
	expect(registry.requests).toContain("PUT /pi-notes");
	const agentDir = tempAgentDir();
	for (const [source, version] of [
		["npm:pi-notes", /^Installed npm:pi-notes 0\.2\.0: 1 hook, 1 skill\n/],
		[`git:${repository.url}@v1.2.0`, /^Installed git:\S+ 0\.2\.0 \([0-9a-f]{7}\): 1 hook, 1 skill\n/],
	] as const) {
		const installed = await runPi(["install", source], { agentDir, env: { ...registry.env, ...server.env } });
		expect(installed).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(version) });
	}
});
