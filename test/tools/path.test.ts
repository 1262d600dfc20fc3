import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLocalMachine } from "../../src/tools/machine/local-machine.js";
import { describeMissing, displayPath, resolvePath, warnOfSensitivePath } from "../../src/tools/path.js";

async function tempDir(): Promise<string> {
	const dir = await realpath(await mkdtemp(join(tmpdir(), "pi-path-")));
	onTestFinished(() => rm(dir, { recursive: true, force: true }));
	return dir;
}

test.each([
	["a/b.ts", "/work/a/b.ts"],
	["./a/../b.ts", "/work/b.ts"],
	["/etc/hosts", "/etc/hosts"],
	["~", "/home/u"],
	["~/x", "/home/u/x"],
	["@src/a.ts", "/work/src/a.ts"],
	["@~/x", "/home/u/x"],
	["~other/x", "/work/~other/x"],
])("%s means %s", async (path, expected) => {
	expect(await resolvePath(createLocalMachine("/work", "/home/u"), path)).toBe(expected);
});

test("a file whose name starts with @ is found", async () => {
	const dir = await tempDir();
	await writeFile(join(dir, "@odd"), "");
	expect(await resolvePath(createLocalMachine(dir), "@odd")).toBe(join(dir, "@odd"));
});

test.each([
	["/work/a.ts", "a.ts"],
	["/work", "."],
	["/other/a.ts", "/other/a.ts"],
	["/work/..a", "..a"],
])("%s is shown as %s", (path, expected) => {
	expect(displayPath("/work", path)).toBe(expected);
});

test("the message for a missing file names similar files, or the missing directory", async () => {
	const dir = await tempDir();
	await mkdir(join(dir, "src"));
	await writeFile(join(dir, "src/index.ts"), "");
	expect(await describeMissing(createLocalMachine(dir), join(dir, "src/indx.ts"))).toBe(
		"src/indx.ts does not exist. In src: Did you mean index.ts?",
	);
	expect(await describeMissing(createLocalMachine(dir), join(dir, "zebra"))).toBe(
		"zebra does not exist in the working directory.",
	);
	expect(await describeMissing(createLocalMachine(dir), join(dir, "src/zebra"))).toBe(
		"src/zebra does not exist in src.",
	);
	expect(await describeMissing(createLocalMachine(dir), join(dir, "srcs/a.ts"))).toBe(
		"srcs/a.ts does not exist: there is no directory srcs. In .: Did you mean src?",
	);
	expect(await describeMissing(createLocalMachine(dir), join(dir, "does/not/exist.ts"))).toBe(
		"does/not/exist.ts does not exist: there is no directory does in the working directory.",
	);
});

test("the message for a name that exists says why it cannot be used", async () => {
	const dir = await tempDir();
	await symlink("gone/target", join(dir, "link"));
	await writeFile(Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9])]), "");
	const describe = (name: string) => describeMissing(createLocalMachine(dir), join(dir, name));
	expect(await describe("link")).toBe("link is a link to gone/target, which does not exist.");
	expect(await describe("link/a.ts")).toBe(
		"link/a.ts does not exist: link is a link to gone/target, which does not exist.",
	);
	expect(await describe("caf\uFFFD")).toBe(
		"caf\uFFFD is not the real name of the file: it contains bytes that are not UTF-8. Use bash with a pattern, such as ls caf?*.",
	);
});

test("a warning names files that determine which code runs later, also through links", async () => {
	const home = await tempDir();
	const cwd = join(home, "project");
	await mkdir(join(cwd, ".pi/hooks"), { recursive: true });
	await symlink(join(cwd, ".pi"), join(cwd, "innocent"));
	const agentDir = join(home, "elsewhere");
	const host = createLocalMachine(cwd, home, agentDir);
	const warn = async (path: string) => warnOfSensitivePath(host, path, await host.realPath(path));
	expect(await warn(join(cwd, ".pi/hooks/new.ts"))).toMatch(/^Warning: \.pi\/hooks\/new\.ts is one of pi's own files/);
	expect(await warn(join(cwd, "innocent/hooks/new.ts"))).toContain("pi's own files");
	expect(await warn(join(home, ".pi/agent/settings.json"))).toContain("pi's own files");
	expect(await warn(join(cwd, ".PI/hooks/new.ts"))).toContain("pi's own files");
	expect(await warn(join(agentDir, "hooks/new.ts"))).toContain("pi's own files");
	expect(await warn(join(cwd, ".mcp.json"))).toContain("pi's own files");
	expect(await warn(join(cwd, "..odd/.pi/hooks/new.ts"))).toContain("pi's own files");
	expect(await warn(join(cwd, "src/.mcp.json"))).toBeUndefined();
	await symlink(".pi/hooks/not-yet.ts", join(cwd, "notes.md"));
	await symlink("notes.md", join(cwd, "more.md"));
	await symlink("loop", join(cwd, "loop"));
	expect(await warn(join(cwd, "more.md"))).toContain("pi's own files");
	expect(await warn(join(cwd, "loop/x"))).toBeUndefined();
	expect(await warn(join(home, ".bashrc"))).toContain("runs in the user's shell");
	expect(await warn(join(home, ".config/fish/config.fish"))).toContain("runs in the user's shell");
	expect(await warn(join(cwd, ".bashrc"))).toBeUndefined();
	expect(await warn(join(cwd, "src/a.ts"))).toBeUndefined();
	expect(await warn("/etc/.pi/x")).toBeUndefined();
});
