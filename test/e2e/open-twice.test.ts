import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

/** A session with one turn in one pi, and a function that opens it in another one. */
async function openInOnePi() {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const first = await openPi({ agentDir, cwd });
	provider.reply("The first answer.");
	await submit(first, "first prompt");
	await first.waitForText("The first answer.");
	const root = join(agentDir, "sessions");
	const dir = join(root, readdirSync(root)[0] ?? "");
	const files = () => readdirSync(dir).filter((name) => name.endsWith(".jsonl"));
	const id = /_(\w{8})/.exec(files()[0] ?? "")?.[1] ?? "";
	const path = join(dir, files()[0] ?? "");
	const openAgain = async () => {
		const pi = await openPi({ agentDir, cwd, args: ["--session", id] });
		await pi.waitForText("Another pi has that session open");
		return pi;
	};
	return { provider, first, files, path, id, openAgain };
}

const REFUSAL = "This session is read-only · /resume can continue it";

test("a session that another pi has open can be read; until it is opened again, nothing is written to it", async () => {
	const { provider, first, files, path, id, openAgain } = await openInOnePi();
	const before = readFileSync(path);
	const second = await openAgain();
	await second.press("down", "enter");
	await second.waitForText("The first answer.");
	await second.waitForText(/ · read-only/);
	for (const [index, line] of ["/compact", "/name new", "!echo shell", "second prompt"].entries()) {
		await submit(second, line);
		// The last line counts its repetitions.
		const screen = await second.waitForText(index === 0 ? REFUSAL : `${REFUSAL} (${index + 1} times)`);
		expect(screen.split("\n").at(-4)?.trim()).toBe(line);
		await second.press("ctrl+u");
	}
	expect(readFileSync(path)).toEqual(before);

	await submit(second, `/resume ${id}`);
	await second.waitForText("Another pi has that session open");
	await second.press("escape");
	await second.waitForText("quit that pi, or continue in a copy");
	await first.press("ctrl+d");
	await first.exited;
	await submit(second, `/resume ${id}`);
	await second.waitForScreen((text) => !/ · read-only +Scripted/.test(text), "no mark");
	provider.reply("The second answer.");
	await submit(second, "second prompt");
	await second.waitForText("The second answer.");
	await submitIdle(second, "/quit");
	await second.exited;
	expect(conversation(provider, 1)).toEqual([
		"user: first prompt",
		"assistant: The first answer.",
		"user: second prompt",
	]);
	expect(files()).toHaveLength(1);
	expect(readFileSync(path, "utf8")).toContain("The second answer.");
});

test("a session that another pi has open is continued in a copy", async () => {
	const { provider, files, path, openAgain } = await openInOnePi();
	const before = readFileSync(path);
	const second = await openAgain();
	await second.press("enter");
	await second.waitForText("The first answer.");
	provider.reply("The second answer.");
	await submit(second, "second prompt");
	await second.waitForText("The second answer.");
	expect(conversation(provider, 1)).toEqual([
		"user: first prompt",
		"assistant: The first answer.",
		"user: second prompt",
	]);
	expect(files()).toHaveLength(2);
	expect(readFileSync(path)).toEqual(before);
});

test("a branch of a session that is read is written to a file of its own", async () => {
	const { provider, files, openAgain } = await openInOnePi();
	const second = await openAgain();
	await second.press("down", "enter");
	await second.waitForText(/ · read-only/);
	await submit(second, "/branch");
	await second.waitForText(/→ .*first prompt/);
	await second.press("enter");
	await second.waitForText(/^ first prompt/m);
	provider.reply("Another answer.");
	await second.press("enter");
	await second.waitForText("Another answer.");
	expect(files()).toHaveLength(2);
});

test("who declines both is told which process has the session", async () => {
	const { first, openAgain } = await openInOnePi();
	const second = await openAgain();
	await second.press("escape");
	const { code } = await second.exited;
	expect(code).toBe(1);
	expect((await second.screen()).replaceAll("\n", "")).toContain(`is in use by process ${first.pid}`);
});
