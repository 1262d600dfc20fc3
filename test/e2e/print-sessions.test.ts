import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

test("runs of pi -p do not get between a person and their sessions", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider), cwd: tempDir() };
	provider.reply("Hello.", "Committed.", "Again.", "Yes.");
	const first = await openPi(at);
	await submit(first, "my own question");
	await first.waitForText("Hello.");
	await submit(first, "/quit");
	await first.exited;
	// As a git hook would.
	expect(await runPi(["-p", "write a commit message"], at)).toMatchObject({ code: 0, stdout: "Committed.\n" });
	const pi = await openPi({ ...at, args: ["-c"] });
	await pi.waitForText("my own question");
	await pi.press("ctrl+r");
	expect(await pi.waitForText("my own question")).not.toContain("commit message");
	await pi.press("escape");
	await submitIdle(pi, "/resume");
	expect(await pi.waitForText("ctrl+t show pi -p")).not.toContain("commit message");
	pi.type("\x14");
	await pi.waitForText(/write a commit message +2 messages/);
	await pi.press("escape");
	await submitIdle(pi, "/quit");
	await pi.exited;
	// A script continues what it began.
	expect(await runPi(["-p", "-c", "shorter"], at)).toMatchObject({ code: 0, stdout: "Again.\n" });
	expect(conversation(provider, 2)[0]).toBe("user: write a commit message");
	const again = await openPi({ ...at, args: ["-c"] });
	await again.waitForText("my own question");
	await submit(again, "still there?");
	await again.waitForText("Yes.");
});

test("a session that was only opened is not the one to continue", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider), cwd: tempDir() };
	provider.reply("One.", "Two.");
	const quit = async (args: string[], prompt: string, answer: string) => {
		const pi = await openPi({ ...at, args });
		await submit(pi, prompt);
		await pi.waitForText(answer);
		await submitIdle(pi, "/quit");
		await pi.exited;
		return /--session (\S+)/.exec(await pi.scrollback())?.[1] ?? "";
	};
	const older = await quit([], "the older one", "One.");
	await quit([], "the newer one", "Two.");
	await quit(["--session", older], "/name looked at again", "looked at again");
	const pi = await openPi({ ...at, args: ["-c"] });
	await pi.waitForText("the newer one");
});

/** Saves an entry, names the session and chooses a thinking level whenever a session starts. */
const AT_START = `export default (pi) => pi.on("session", async ({ reason }, ctx) => {
	if (reason !== "start") return;
	await ctx.saveEntry({ type: "mine" });
	ctx.setSessionName("by a hook");
	ctx.setThinkingLevel("high");
});`;

test("a hook that saves something at the start makes no session, and -c opens none without a message, in any mode", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider, { hooks: { "mine.ts": AT_START } }), cwd: tempDir() };
	const files = () => {
		const root = join(at.agentDir, "sessions");
		const dirs = existsSync(root) ? readdirSync(root) : [];
		return dirs.flatMap((dir) => readdirSync(join(root, dir)).filter((name) => name.endsWith(".jsonl")));
	};
	// Nobody says anything.
	const opened = await openPi(at);
	await opened.waitForText("by a hook");
	await submit(opened, "/quit");
	await opened.exited;
	const killed = await openPi(at);
	await killed.waitForText("by a hook");
	killed.kill("SIGKILL");
	await killed.exited;
	const rpc = spawnPi(["--mode", "rpc"], at);
	rpc.write('{"id":"1","type":"get_state"}\n');
	await rpc.waitFor(({ stdout }) => /"name":"by a hook"[\s\S]*"id":"1"/.test(stdout));
	rpc.end();
	await rpc.exited;
	expect(files()).toEqual([]);
	// A conversation, then a session that has a name only.
	provider.reply("One.", "Two.", "Three.");
	expect(await runPi(["-p", "first"], at)).toMatchObject({ code: 0, stdout: "One.\n" });
	expect(files()).toHaveLength(1);
	const named = await openPi(at);
	await submit(named, "/name for later");
	await named.waitForText("for later");
	await submit(named, "/quit");
	await named.exited;
	expect(files()).toHaveLength(2);
	expect(await runPi(["-p", "-c", "second"], at)).toMatchObject({ code: 0, stdout: "Two.\n" });
	expect(conversation(provider, 1)).toEqual(["user: first", "assistant: One.", "user: second"]);
	const pi = await openPi({ ...at, args: ["-c"] });
	await submit(pi, "third");
	await pi.waitForText("Three.");
	expect(conversation(provider, 2).slice(0, 2)).toEqual(["user: first", "assistant: One."]);
});

test("--resume-or-new continues the session of a name, in every mode, or begins it", async () => {
	const provider = await startProvider();
	const at = { agentDir: agentDirFor(provider), cwd: tempDir() };
	provider.reply("One.", "Other.", "Two.", "Three.");
	const ask = (args: string[]) => runPi(["-p", ...args], at);
	expect(await ask(["--resume-or-new", "nightly", "first"])).toMatchObject({ code: 0, stdout: "One.\n" });
	expect(await ask(["--resume-or-new", "weekly", "other"])).toMatchObject({ code: 0, stdout: "Other.\n" });
	const args = ["--mode", "json", "--resume-or-new", "nightly", "second"];
	expect(await runPi(args, at)).toMatchObject({ code: 0 });
	expect(conversation(provider, 2)).toEqual(["user: first", "assistant: One.", "user: second"]);
	const pi = await openPi({ ...at, args: ["--resume-or-new", "nightly"] });
	await pi.waitForText("nightly");
	// Another script that comes meanwhile.
	const refused = await ask(["--resume-or-new", "nightly", "third"]);
	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toMatch(/is in use by .*process/);
	await submit(pi, "third");
	await pi.waitForText("Three.");
	expect(conversation(provider, 3)[0]).toBe("user: first");
});
