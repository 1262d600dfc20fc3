import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("confirm-destructive.ts");

function repository(files: Record<string, string>): string {
	const cwd = tempDir();
	execFileSync("git", ["init", "--quiet"], { cwd });
	writeFiles(cwd, files);
	return cwd;
}

async function start(files: Record<string, string>, answer: boolean) {
	const asked: string[][] = [];
	const confirm = async (title: string, message: string) => {
		asked.push([title, message]);
		return answer;
	};
	return { ...(await startSession({ hookFiles: [HOOK], cwd: repository(files), ui: { confirm } })), asked };
}

test("a no keeps the session", async () => {
	const { session, asked, provider } = await start({ "a.txt": "a", "b.txt": "b" }, false);
	provider.reply("hi");
	await session.prompt("hello");
	expect(await session.newSession()).toBe(false);
	expect(await session.branch(1)).toBe(null);
	const changes = "2 files have uncommitted changes.";
	expect(asked).toEqual([
		["Start a new session?", changes],
		["Branch from the earlier message?", changes],
	]);
	expect(session.entries).toHaveLength(3);
});

test("a yes continues", async () => {
	const { session, asked } = await start({ "a.txt": "a" }, true);
	expect(await session.newSession()).toBe(true);
	expect(asked).toEqual([["Start a new session?", "1 file has uncommitted changes."]]);
});

test("does not ask with a clean work tree, without a repository, or without a screen", async () => {
	const clean = await start({}, false);
	expect(await clean.session.newSession()).toBe(true);
	const outside = await startSession({ hookFiles: [HOOK], ui: { confirm: async () => false } });
	expect(await outside.session.newSession()).toBe(true);
	const alone = await startSession({ hookFiles: [HOOK], cwd: repository({ "a.txt": "a" }) });
	expect(await alone.session.newSession()).toBe(true);
});
