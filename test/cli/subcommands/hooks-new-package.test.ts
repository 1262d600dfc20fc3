import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { readPackage } from "../../helpers/package-files.js";
import { tempDir, writeFiles } from "../../helpers/temp.js";
import { type RunPlace, run } from "./run.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

function newPackage(target: string, place: RunPlace = {}) {
	return run({ name: "hooks", action: "new", target, inProject: false, asPackage: true }, place);
}

function manifestIn(dir: string) {
	return JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
}

describe("pi hooks new --package", () => {
	test("writes a package with a hook, a skill and a test, and prints the next steps", async () => {
		const { code, stdout, cwd } = await newPackage("pi-notes");
		const dir = join(cwd, "pi-notes");
		expect(code).toBe(0);
		expect(stdout).toBe(
			[
				`Wrote the package pi-notes to ${dir}:`,
				"  package.json",
				"  hooks/notes.ts",
				"  skills/notes/SKILL.md",
				"  test/notes.test.ts",
				"  tsconfig.json",
				"  README.md",
				"  .gitignore",
				"",
				"Next: cd pi-notes && npm install   install the test runner and TypeScript",
				"      npm test                     run the test of the hook",
				"      npm run check                check the types",
				"      pi -e .                      try the package in a session, then /notes",
				"      before you publish           choose a license, and complete package.json and README.md",
				"",
			].join("\n"),
		);
		expect(Object.keys(readPackage(dir).files).sort()).toEqual([
			".gitignore",
			"README.md",
			"hooks/notes.ts",
			"package.json",
			"skills/notes/SKILL.md",
			"test/notes.test.ts",
			"tsconfig.json",
		]);
		expect(manifestIn(dir)).toEqual({
			name: "pi-notes",
			version: "0.1.0",
			description: "Counts tool calls and blocks git push",
			keywords: ["pi-package"],
			type: "module",
			files: ["hooks", "skills"],
			scripts: { test: "vitest run", check: "tsc", prepublishOnly: "npm run check && npm test" },
			peerDependencies: { "@mariozechner/pi-coding-agent": "*" },
			devDependencies: { typescript: ">=5.9", vitest: ">=3" },
			pi: { hooks: ["hooks/*.ts"], skills: ["skills"] },
		});
		expect(realpathSync(join(dir, "node_modules/@mariozechner/pi-coding-agent"))).toBe(ROOT);
	});

	test("the files contain nothing of this machine, so that the package can be shared", async () => {
		const { cwd, agentDir } = await newPackage("pi-notes");
		for (const [path, content] of Object.entries(readPackage(join(cwd, "pi-notes")).files)) {
			for (const place of [ROOT, cwd, agentDir]) expect(String(content), path).not.toContain(place);
		}
	});

	test("the hook loads, and the skill has no problems", async () => {
		const { cwd } = await newPackage("pi-notes");
		const target = join(cwd, "pi-notes/hooks/notes.ts");
		const check = await run({ name: "hooks", action: "check", target }, { cwd });
		expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining("commands  /notes\n"), stderr: "" });
		const { loadSkills } = await import("../../../src/resources/skills.js");
		const { skills, warnings } = await loadSkills([{ path: join(cwd, "pi-notes/skills"), scope: "user" }]);
		expect([skills.map(({ name }) => name), warnings]).toEqual([["notes"], []]);
	});

	test.each([
		["notes", "notes", "notes", "notes"],
		["packages/pi-notes", "packages/pi-notes", "pi-notes", "notes"],
		["./pi-notes/", "pi-notes", "pi-notes", "notes"],
		["@ada/pi-notes", "pi-notes", "@ada/pi-notes", "notes"],
		["pi-a-b2", "pi-a-b2", "pi-a-b2", "a-b2"],
	])("%s is written to %s with the name %s", async (target, path, name, command) => {
		const { cwd, stdout } = await newPackage(target, { json: true });
		const dir = join(cwd, path);
		expect(manifestIn(dir).name).toBe(name);
		expect(JSON.parse(stdout)).toEqual({
			name,
			path: dir,
			files: [
				"package.json",
				`hooks/${command}.ts`,
				`skills/${command}/SKILL.md`,
				`test/${command}.test.ts`,
				"tsconfig.json",
				"README.md",
				".gitignore",
			],
		});
	});

	test("an absolute path, and an empty directory with a new repository, can be used", async () => {
		const dir = join(tempDir(), "pi-notes");
		mkdirSync(join(dir, ".git"), { recursive: true });
		const { stdout } = await newPackage(dir);
		expect(stdout).toContain(`Next: cd ${dir} && npm install`);
		expect(manifestIn(dir).name).toBe("pi-notes");
	});

	test("the working directory can be used", async () => {
		const cwd = join(tempDir(), "pi-notes");
		mkdirSync(cwd);
		const { stdout } = await newPackage(".", { cwd });
		expect(stdout).toContain("Next: npm install   install the test runner");
	});

	test("a path with a space is quoted in the next steps", async () => {
		const { stdout } = await newPackage("my packages/pi-notes");
		expect(stdout).toContain("Next: cd 'my packages/pi-notes' && npm install   install");
	});

	test("does not write into a directory with files", async () => {
		const cwd = tempDir("pi-project-");
		writeFiles(cwd, { "pi-notes/mine.txt": "mine" });
		await expect(newPackage("pi-notes", { cwd })).rejects.toThrow(`${join(cwd, "pi-notes")} is not empty`);
		expect(readdirSync(join(cwd, "pi-notes"))).toEqual(["mine.txt"]);
		writeFiles(cwd, { "pi-file": "" });
		await expect(newPackage("pi-file", { cwd })).rejects.toThrow(`${join(cwd, "pi-file")} is not a directory`);
	});

	test.each(["Pi-Notes", "a b", "a--b", "-a", "@ada/", "a_b", "x".repeat(65), ""])(
		"rejects the name %j",
		async (target) => {
			await expect(newPackage(target)).rejects.toThrow("Invalid package name");
		},
	);

	test("rejects the name of a built-in command", async () => {
		await expect(newPackage("pi-model")).rejects.toThrow("/model is a built-in command");
	});

	test("files are never writable by others, whatever the umask", async () => {
		const before = process.umask(0);
		try {
			const { cwd } = await newPackage("pi-notes");
			expect(statSync(join(cwd, "pi-notes/hooks/notes.ts")).mode & 0o777).toBe(0o644);
		} finally {
			process.umask(before);
		}
	});
});

describe("the command line", () => {
	test.each([
		[["new", "pi-a", "--package"], { action: "new", target: "pi-a", inProject: false, asPackage: true }],
		[["new", "--package", "dir/pi-a"], { action: "new", target: "dir/pi-a", inProject: false, asPackage: true }],
	])("accepts hooks %j", (argv, command) => {
		expect(parseArgs(["hooks", ...argv])).toMatchObject({ kind: "subcommand", command: { name: "hooks", ...command } });
	});

	test.each([
		[["new", "--package"], "pi hooks new <name>: missing name"],
		[["check", "a.ts", "--package"], "--package works only with pi hooks new, not with check"],
		[["new", "a", "--package", "--project"], "--package and --project exclude each other"],
	])("rejects hooks %j", (argv, message) => {
		expect(() => parseArgs(["hooks", ...argv])).toThrow(message);
	});
});
