import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("dirty-repo-guard.ts");
const CHANGES = "Uncommitted changes: a.txt, dir name/b.txt.";

/** A repository with one commit and these uncommitted files. */
function repository(files: Record<string, string>): string {
	const cwd = tempDir();
	const git = (...args: string[]) =>
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd });
	writeFiles(cwd, { "a.txt": "committed", "dir name/kept.txt": "committed" });
	git("init", "--quiet");
	git("add", ".");
	git("commit", "--quiet", "-m", "first");
	writeFiles(cwd, files);
	return cwd;
}

const DIRTY = { "a.txt": "changed", "dir name/b.txt": "new" };

async function start(cwd: string, ...answers: boolean[]) {
	const asked: string[][] = [];
	const notices: string[] = [];
	const confirm = async (title: string, message: string) => {
		asked.push([title, message]);
		return answers.shift() ?? false;
	};
	const ui = { confirm, notify: (message: string) => void notices.push(message) };
	return { ...(await startSession({ hookFiles: [HOOK], cwd, ui })), asked, notices, cwd };
}

const touch = (name: string) => toolCall("bash", { command: `echo x > ${name}` });

test("lists the files at the start, and asks once before the first tool call", async () => {
	const { session, provider, asked, notices, cwd } = await start(repository(DIRTY), true);
	expect(notices).toEqual([CHANGES]);
	provider.reply([toolCall("read", { path: "a.txt" })], [touch("c"), touch("d")], "done", [touch("e")], "done");
	await session.prompt("go");
	await session.prompt("go on");
	expect(asked).toEqual([["Let the agent work on these files?", CHANGES]]);
	expect(["c", "d", "e"].map((name) => existsSync(join(cwd, name)))).toEqual([true, true, true]);
});

test("a no blocks the tools until the next prompt, and the model receives the reason", async () => {
	const { session, provider, asked, cwd } = await start(repository(DIRTY), false, true);
	provider.reply(
		[touch("c"), touch("d")],
		[toolCall("write", { path: "e", content: "x" })],
		"well",
		[touch("f")],
		"done",
	);
	await session.prompt("go");
	expect(asked).toHaveLength(1);
	expect(provider.requests[1]?.messages.at(-1)?.text).toContain(
		`${CHANGES} The user has not allowed changes to these files`,
	);
	await session.prompt("go then");
	expect(asked).toHaveLength(2);
	expect(["c", "d", "e", "f"].map((name) => existsSync(join(cwd, name)))).toEqual([false, false, false, true]);
});

test("changes made by the agent cause no question, except in a new session", async () => {
	const { session, provider, asked, notices } = await start(repository({}), true);
	provider.reply([touch("c")], [touch("d")], "done", [touch("e")], "done");
	await session.prompt("go");
	expect([asked, notices]).toEqual([[], []]);
	await session.newSession();
	await session.prompt("go");
	expect(asked).toEqual([["Let the agent work on these files?", "Uncommitted changes: c, d."]]);
});

test("without a screen the tools are blocked; outside a repository they are not", async () => {
	const alone = await startSession({ hookFiles: [HOOK], cwd: repository(DIRTY) });
	alone.provider.reply([touch("c")], "well");
	await alone.session.prompt("go");
	expect(existsSync(join(alone.cwd, "c"))).toBe(false);
	const outside = await startSession({ hookFiles: [HOOK] });
	outside.provider.reply([touch("c")], "done");
	await outside.session.prompt("go");
	expect(existsSync(join(outside.cwd, "c"))).toBe(true);
});

test("a long list is truncated", async () => {
	const many = Object.fromEntries(Array.from({ length: 13 }, (_, n) => [`f${String(n).padStart(2, "0")}`, "x"]));
	const { notices } = await start(repository(many));
	expect(notices[0]).toMatch(/: f00, f01, .*, f09 and 3 more\.$/);
});
