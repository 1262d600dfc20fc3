import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionUI } from "../../src/hooks/session-ui.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("pr.ts");

function repository() {
	const cwd = tempDir();
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd, encoding: "utf8" });
	const commit = (message: string) => {
		git("add", ".");
		git("commit", "--quiet", "-m", message);
	};
	git("init", "--quiet", "-b", "main");
	writeFiles(cwd, { "a.txt": "one\n" });
	commit("first");
	git("checkout", "--quiet", "-b", "topic");
	return { cwd, git, commit };
}

test("asks for a description of the changes of the branch", async () => {
	const { cwd, commit } = repository();
	writeFiles(cwd, { "a.txt": "two\n" });
	commit("count further\n\nOne was not enough.");
	const { session, provider, sent } = await startSession({ hookFiles: [HOOK], cwd });
	provider.reply("Title: count further");
	await session.prompt("/pr");
	const [prompt = ""] = sent(1);
	expect(prompt).toContain("a pull request of this branch into main");
	expect(prompt).toContain("- count further\n  One was not enough.");
	expect(prompt).toContain("a.txt | 2 +-");
	expect(prompt).toContain("-one\n+two");
});

test("a long diff is truncated, and the prompt names the command for the rest", async () => {
	const { cwd, commit } = repository();
	writeFiles(cwd, { "big.txt": "line\n".repeat(20_000) });
	commit("big");
	const { session, provider, sent } = await startSession({ hookFiles: [HOOK], cwd });
	provider.reply("ok");
	await session.prompt("/pr main");
	expect(sent(1)[0]).toMatch(/\[… truncated; git diff [0-9a-f]{40}\.\.HEAD shows the full diff\]/);
	expect(sent(1)[0]?.length).toBeLessThan(45_000);
});

test.each([
	["/pr", "This branch has no changes compared with main"],
	["/pr nowhere", "Unknown commit or branch nowhere"],
	["/pr --output=x", "Unknown commit or branch --output=x"],
])("%s in a branch without changes says: %s", async (command, status) => {
	const { cwd } = repository();
	const { session, provider } = await startSession({ hookFiles: [HOOK], cwd });
	expect(await session.prompt(command)).toEqual({ kind: "command", status });
	expect(provider.requests).toEqual([]);
});

test("outside a repository it asks for a base", async () => {
	const { session } = await startSession({ hookFiles: [HOOK], cwd: join(tempDir()) });
	expect(await session.prompt("/pr")).toEqual({ kind: "command", status: "No base branch found: run /pr <branch>" });
});

test.each<[string | null, string | null]>([
	["trunk", "a pull request of this branch into trunk"],
	[null, null],
])("without a usual base branch the user chooses one: %j", async (choice, request) => {
	const { cwd, git, commit } = repository();
	git("branch", "--move", "main", "trunk");
	writeFiles(cwd, { "a.txt": "two\n" });
	commit("count further");
	const offered: unknown[] = [];
	const select = async (_: string, options: readonly unknown[]) => {
		offered.push(...options);
		return choice;
	};
	const { session, provider, sent } = await startSession({
		hookFiles: [HOOK],
		cwd,
		ui: { select: select as SessionUI["select"] },
	});
	provider.on(() => "ok");
	const result = await session.prompt("/pr");
	expect(offered).toEqual(["trunk"]);
	if (request !== null) expect(sent(1)[0]).toContain(request);
	else expect(result).toEqual({ kind: "command", status: "No base branch found: run /pr <branch>" });
});
