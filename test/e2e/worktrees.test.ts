import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

test("a session starts in a worktree, its tools work there, and /worktrees removes it when told to", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("write", { path: "a.ts", content: "two\n" })]).reply("Done.");
	const top = join(realpathSync(tempDir()), "shop");
	writeFiles(top, { "a.ts": "one\n" });
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: top });
	git("init", "-q", "-b", "main");
	git("add", ".");
	git("commit", "-qm", "one");
	const at = { agentDir: agentDirFor(provider), cwd: top, columns: 140, rows: 30 };
	const tree = `${top}.worktrees/price-fix`;

	const pi = await openPi({ ...at, args: ["--on", "worktree:price-fix"] });
	expect(await pi.screen()).toContain(`Worktree ${tree}: new branch price-fix at`);
	await submit(pi, "change it");
	await pi.waitForText("Done.");
	expect([top, tree].map((dir) => readFileSync(join(dir, "a.ts"), "utf8"))).toEqual(["one\n", "two\n"]);
	await submitIdle(pi, "/quit");
	await pi.exited;

	// Its sessions belong to it.
	expect((await runPi(["sessions", "list"], at)).stderr).toContain("No sessions in");
	expect((await runPi(["sessions", "list"], { ...at, cwd: tree })).stdout).toContain("change it");

	// Not while another pi works there.
	const other = await openPi({ ...at, args: ["--on", "worktree:price-fix"] });
	const refused = await runPi(["-p", "/worktrees remove price-fix"], at);
	expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/another pi, process \d+, works there/) });
	await submitIdle(other, "/quit");
	await other.exited;

	const main = await openPi(at);
	await submit(main, "/worktrees");
	expect(await main.waitForText("Remove which worktree?")).toContain("→ price-fix · 1 changed file");
	await main.press("enter");
	expect(await main.waitForText("and lose 1 changed file")).toContain("→ Keep it");
	await main.press("enter");
	await main.waitForGone("→ Keep it");
	expect(existsSync(tree)).toBe(true);
	await submit(main, "/worktrees remove price-fix --force");
	await main.waitForText("the branch price-fix stays");
	expect(existsSync(tree)).toBe(false);
});
