import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { startGuarded } from "./guarded.js";

async function write(cwd: string, path: string) {
	const { call, warnings, asked } = await startGuarded({ presets: ["protected-paths"], cwd });
	const result = await call("write", { path, content: "changed" });
	expect(asked).toEqual([]);
	return { result, warnings };
}

function project(): string {
	const cwd = tempDir();
	writeFiles(cwd, { ".env": "KEY=1", "src/a.ts": "a", ".git/config": "[core]", "node_modules/x/index.js": "x" });
	mkdirSync(join(cwd, "links"));
	symlinkSync("../.env", join(cwd, "links/notes.txt"));
	symlinkSync("../.git", join(cwd, "links/folder"));
	symlinkSync("../.env.local", join(cwd, "links/later"));
	symlinkSync("loop", join(cwd, "links/loop"));
	return cwd;
}

test.each([
	".env",
	"./src/../.env",
	".env.production",
	".git/hooks/pre-commit",
	".GIT/config",
	"node_modules/x/index.js",
	"packages/a/node_modules/y/new.js",
	"@.env",
	"links/notes.txt",
	"links/folder/config",
	"links/later",
])("blocks a write to %s and notifies user and model", async (path) => {
	const cwd = project();
	const { result, warnings } = await write(cwd, path);
	expect(result).toContain(`${path} is protected: do not change it; ask the user to change it`);
	expect(warnings).toEqual([`Blocked write on the protected path ${path}`]);
	expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("KEY=1");
});

test("blocks absolute paths, also outside the project", async () => {
	const cwd = project();
	expect((await write(cwd, join(cwd, ".env"))).result).toContain("is protected");
	const other = tempDir();
	mkdirSync(join(other, ".git"));
	expect((await write(cwd, join(other, ".git/config"))).result).toContain("is protected");
});

test.each(["src/a.ts", ".env.example", "environment.ts", ".github/workflows/ci.yml", "git/x", "links/loop"])(
	"leaves a write to %s alone",
	async (path) => {
		expect((await write(project(), path)).warnings).toEqual([]);
	},
);

test("ignores protected names above the project", async () => {
	const cwd = join(tempDir(), "node_modules", "mine");
	mkdirSync(cwd, { recursive: true });
	expect((await write(cwd, "a.txt")).result).toContain("Created a.txt");
});

test("blocks edits too", async () => {
	const cwd = project();
	writeFileSync(join(cwd, ".env"), "KEY=1");
	const { call } = await startGuarded({ presets: ["protected-paths"], cwd });
	await call("edit", { path: ".env", oldText: "1", newText: "2" });
	expect(readFileSync(join(cwd, ".env"), "utf8")).toBe("KEY=1");
});
