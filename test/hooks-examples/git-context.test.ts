import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { startApp } from "../modes/interactive/app.js";
import { tryExample } from "./example.js";

function repository(): string {
	const cwd = tempDir();
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd });
	git("init", "--quiet");
	for (const title of ["round prices", "count coupons"]) git("commit", "--quiet", "--allow-empty", "-m", title);
	writeFiles(cwd, { "a file.txt": "a", "b.txt": "b" });
	return cwd;
}

test("/changes inserts the changed files at the cursor", async () => {
	const t = await tryExample("git-context.ts", { cwd: repository() });
	expect(await t.run("/changes")).toMatchObject({ status: "a file.txt\nb.txt" });
	const plain = await tryExample("git-context.ts");
	expect(await plain.run("/changes")).toMatchObject({ status: "This is not a git repository" });
	expect([...t.errors, ...plain.errors]).toEqual([]);
});

test.each([40, 120])("at %i columns ^ completes a commit by its title, and /changes adds files", async (columns) => {
	const app = await startApp({ columns, cwd: repository(), agentSettings: { hooks: ["pi:git-context"] } });
	await app.terminal.waitFor("0%");
	await app.terminal.type("Revert ^roun");
	// pi loads its code for completions of hooks when the first one is added, while the user may type.
	await expect
		.poll(async () => {
			await app.terminal.type("d");
			const text = await app.terminal.text();
			if (!text.includes("round prices")) await app.terminal.press("backspace");
			return text;
		})
		.toContain("round prices");
	expect(await app.terminal.text()).not.toContain("count coupons");
	await app.terminal.press("tab");
	await app.terminal.waitFor(/Revert [0-9a-f]{7}/);
	await app.terminal.press("ctrl+c");
	await app.submit("/changes");
	await app.terminal.waitFor('@"a file.txt" @b.txt');
});
