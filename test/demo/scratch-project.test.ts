import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createScratchProject, SCRATCH_BUG, SCRATCH_FILES } from "../../src/demo/scratch-project.js";
import { tempDir } from "../helpers/temp.js";

/** Runs the project's tests without this process's environment: the test runner would notice that it is nested. */
async function runTests(cwd: string): Promise<{ ok: boolean; output: string }> {
	const options = { cwd, env: { PATH: process.env.PATH } };
	try {
		const { stdout } = await promisify(execFile)(process.execPath, ["--test"], options);
		return { ok: true, output: stdout };
	} catch (failure) {
		const output = typeof failure === "object" && failure !== null && "stdout" in failure ? failure.stdout : failure;
		return { ok: false, output: String(output) };
	}
}

test("the tests of the scratch project fail, and pass once the bug is fixed", async () => {
	const project = await createScratchProject(tempDir());
	const before = await runTests(project.dir);
	expect(before.ok).toBe(false);
	expect(before.output).toMatch(/fail 2$/m);
	expect(before.output).toMatch(/2378[\s\S]*2379/);

	const path = join(project.dir, SCRATCH_BUG.path);
	const source = readFileSync(path, "utf8");
	expect(source.split(SCRATCH_BUG.oldText)).toHaveLength(2);
	writeFileSync(path, source.replace(SCRATCH_BUG.oldText, SCRATCH_BUG.newText));
	expect(await runTests(project.dir)).toEqual({ ok: true, output: expect.stringMatching(/fail 0$/m) });

	await project.remove();
	expect(existsSync(project.dir)).toBe(false);
});

test("the scratch project contains the listed files", async () => {
	const project = await createScratchProject(tempDir());
	const found = Object.keys(SCRATCH_FILES).map((path) => [path, readFileSync(join(project.dir, path), "utf8")]);
	expect(Object.fromEntries(found)).toEqual(SCRATCH_FILES);
});
