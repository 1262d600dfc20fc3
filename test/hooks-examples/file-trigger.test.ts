import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("file-trigger.ts");

async function start(files: Record<string, string> = {}) {
	const cwd = tempDir();
	writeFiles(cwd, files);
	mkdirSync(join(cwd, ".pi"), { recursive: true });
	const test = await startSession({ hookFiles: [HOOK], cwd });
	test.provider.on(() => "ok");
	return { ...test, trigger: join(cwd, ".pi", "trigger.txt") };
}

test("sends the text of the file once and deletes the file", async () => {
	const { provider, trigger, sent, cwd } = await start();
	writeFileSync(trigger, "  the build failed\n");
	await provider.request(1);
	expect(sent(1)).toEqual(["user: the build failed"]);
	await vi.waitFor(() => expect(readdirSync(join(cwd, ".pi"))).toEqual([]), 10_000);
	writeFileSync(trigger, "and again");
	await provider.request(2);
	expect(sent(2).at(-1)).toBe("user: and again");
	expect(provider.requests).toHaveLength(2);
});

test("ignores a file that existed before the start", async () => {
	const { provider, trigger, sent } = await start({ ".pi/trigger.txt": "a cloned instruction" });
	expect(existsSync(trigger)).toBe(true);
	writeFileSync(trigger, "mine");
	await provider.request(1);
	expect(sent(1)).toEqual(["user: mine"]);
});

test("does not follow a link or send a text over the size limit", async () => {
	const { provider, trigger, sent, cwd } = await start({ "secret.txt": "secret" });
	symlinkSync(join(cwd, "secret.txt"), trigger);
	await vi.waitFor(() => expect(existsSync(trigger)).toBe(false), { timeout: 5000 });
	writeFileSync(trigger, "x".repeat(70_000));
	await vi.waitFor(() => expect(existsSync(trigger)).toBe(false), { timeout: 5000 });
	expect(existsSync(join(cwd, "secret.txt"))).toBe(true);
	writeFileSync(trigger, "short");
	await provider.request(1);
	expect(sent(1)).toEqual(["user: short"]);
});

test("queues the text while the agent is running", async () => {
	const { session, provider, trigger, sent, events } = await start();
	let release = () => {};
	const hold = new Promise<void>((resolve) => {
		release = resolve;
	});
	provider.reply({ content: [{ type: "text", text: "busy" }], hold });
	const run = session.prompt("go");
	await provider.request(1);
	writeFileSync(trigger, "meanwhile");
	await vi.waitFor(() => expect(events.some(({ type }) => type === "queue_changed")).toBe(true), { timeout: 5000 });
	release();
	await run;
	expect(sent(2)).toEqual(["user: go", "assistant: busy", "user: meanwhile"]);
});

test("stops watching when the session ends", async () => {
	const first = await start();
	await first.session.dispose();
	writeFileSync(first.trigger, "late");
	// Another session of the same project reads the file instead.
	const second = await startSession({ hookFiles: [HOOK], cwd: first.cwd });
	second.provider.on(() => "ok");
	writeFileSync(first.trigger, "for the second");
	await second.provider.request(1);
	expect(second.sent(1)).toEqual(["user: for the second"]);
	expect(first.provider.requests).toEqual([]);
});
