import { describe, expect, test } from "vitest";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { untilActivity, untilIdle } from "../helpers/activity.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Prompts in the log: the text, and what was typed. */
const prompts = ({ session }: TestSession) =>
	session.entries.flatMap((entry) =>
		isMessageEntry(entry) && entry.message.role === "user" ? [[messageText(entry.message), entry.typed]] : [],
	);

const SHOUT = hook(`pi.on("prompt", (e) => {
	globalThis.__prompt?.(e);
	if (e.text === "later") return { handled: true };
	if (e.text === "secret") return { stop: "it contains a secret" };
	return { text: e.text.toUpperCase() };
});`);

describe("prompt", () => {
	test("changes the text, and the entry keeps what the user typed", async () => {
		const started = await startSession({ hooks: { "shout.ts": SHOUT } });
		started.provider.reply("done", "done");
		await started.session.prompt("go");
		await started.session.prompt("GO");
		expect(prompts(started)).toEqual([
			["GO", "go"],
			["GO", undefined],
		]);
		expect(started.sent(1)).toEqual(["user: GO"]);
		expect(await started.session.branch(1)).toBe("go");
	});

	test("the entry names the hooks that changed the text, in order", async () => {
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("prompt", (e) => ({ text: e.text + " a" }));'),
				"b.ts": hook('pi.on("prompt", (e) => ({ text: e.text }));'),
				"c.ts": hook('pi.on("prompt", (e) => ({ text: e.text + " c" }));'),
			},
		});
		started.provider.reply("done");
		await started.session.prompt("go");
		expect(started.sent(1)).toEqual(["user: go a c"]);
		expect(started.session.entries.find(isMessageEntry)).toMatchObject({ typed: "go", changedBy: ["a", "c"] });
	});

	test("handled sends nothing, and stop refuses with the reason", async () => {
		const started = await startSession({ hooks: { "shout.ts": SHOUT } });
		expect(await started.session.prompt("later")).toEqual({ kind: "handled", by: "shout" });
		await expect(started.session.prompt("secret")).rejects.toMatchObject({
			code: "prompt_refused",
			message: "Hook shout refused the prompt: it contains a secret",
		});
		expect(started.provider.requests).toEqual([]);
		expect(started.session.entries.length).toBe(1);
		expect(started.session.activity.state).toBe("idle");
	});

	test("runs for templates with the expanded text, and not for slash commands", async () => {
		const texts: unknown[] = [];
		share("__prompt", ({ text, source }: { text: string; source: string }) => texts.push([text, source]));
		const started = await startSession({
			hooks: {
				"shout.ts": SHOUT,
				"x.ts": hook('pi.command("say", { handler: (ctx) => ctx.argsRaw }); pi.command("quiet", { handler() {} });'),
			},
			files: { ".pi/prompts/review.md": "review $1" },
			trust: true,
		});
		started.provider.reply("done", "done");
		await started.session.prompt("/quiet");
		await started.session.prompt("/name x");
		await started.session.prompt("/say hi", { source: "editor" });
		await started.session.prompt("/review a.ts", { source: "editor" });
		expect(texts).toEqual([
			["hi", "hook"],
			["review a.ts", "editor"],
		]);
		expect(prompts(started)).toEqual([
			["HI", "/say hi"],
			["REVIEW A.TS", "/review a.ts"],
		]);
	});

	test("tells how the prompt is delivered, and a queued one comes back as it was typed", async () => {
		const deliveries: string[] = [];
		share("__prompt", ({ delivery }: { delivery: string }) => deliveries.push(delivery));
		const started = await startSession({ hooks: { "shout.ts": SHOUT } });
		const { session, provider } = started;
		provider.reply([toolCall("bash", { command: "sleep 30" })]);
		const running = session.prompt("go");
		await untilActivity(session, ({ phase }) => phase === "tools");
		await session.prompt("more");
		await session.followUp("last");
		expect(session.queue).toEqual({ steering: ["more"], followUps: ["last"] });
		expect(await session.abort()).toEqual(["more", "last"]);
		await running;
		expect(deliveries).toEqual(["start", "steer", "followUp"]);
	});

	test("receives images as attachments, and replaces them", async () => {
		const seen: unknown[] = [];
		share("__prompt", ({ attachments }: { attachments: unknown }) => seen.push(attachments));
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("prompt", (e) => { globalThis.__prompt(e.attachments); });').replace("e.attachments", "e"),
				"b.ts": hook(`pi.on("prompt", () => ({ attachments: [{ id: "1", type: "document", fileName: "n.txt",
					mimeType: "text/plain", size: 2, content: "aGk=" }] }));`),
			},
		});
		started.provider.reply("done");
		await started.session.prompt("look", { images: [{ type: "image", data: PIXEL, mimeType: "image/png" }] });
		expect(seen).toEqual([
			[{ id: "image-1", type: "image", fileName: "image-1.png", mimeType: "image/png", size: 70, content: PIXEL }],
		]);
		expect(started.sent(1)).toEqual(['user: <file name="n.txt">\nhi\n</file>\n\nlook']);
	});

	test("prompts keep their order while a handler takes long, and their size is checked after it", async () => {
		let release = () => {};
		const hold = new Promise<void>((resolve) => {
			release = resolve;
		});
		share("__hold", hold);
		const started = await startSession({
			hooks: {
				"slow.ts": hook(`pi.on("prompt", async (e) => {
					if (e.text === "one") await globalThis.__hold;
					if (e.text.length > 100_000) return { text: "short" };
				});`),
			},
			modelOptions: { contextWindow: 8000 },
		});
		started.provider.on(() => "done");
		const prompted = ["one", "two", "x".repeat(200_000)].map((text) => started.session.prompt(text));
		await new Promise((resolve) => setImmediate(resolve));
		release();
		await Promise.all(prompted);
		await untilIdle(started.session);
		expect(prompts(started).map(([text]) => text)).toEqual(["one", "two", "short"]);
	});

	test("pi.send of a hook has the source hook", async () => {
		const sources: string[] = [];
		share("__prompt", ({ source }: { source: string }) => sources.push(source));
		const started = await startSession({
			hooks: {
				"shout.ts": SHOUT,
				"s.ts": hook('pi.command("wake", { handler: async (ctx) => { pi.send("hi"); await ctx.waitForIdle(); } });'),
			},
		});
		started.provider.reply("done");
		await started.session.prompt("/wake");
		expect(sources).toEqual(["hook"]);
		expect(started.sent(1)).toEqual(["user: HI"]);
	});
});

describe("user_bash", () => {
	const shells = ({ session }: TestSession) =>
		session.entries.flatMap((entry) =>
			isMessageEntry(entry) && entry.message.role === "bashExecution" ? [{ ...entry.message, typed: entry.typed }] : [],
		);

	test("a result replaces the command, and a changed command keeps what was typed", async () => {
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("user_bash", (e) => ({ command: e.command + " # " + e.excluded }));'),
				"b.ts": hook(
					'pi.on("user_bash", (e) => e.command.startsWith("ssh") ? { result: { output: "far away\\n", exitCode: 3 } } : undefined);',
				),
			},
		});
		await started.session.runBash("ssh host");
		await started.session.runBash("echo near", { excludeFromContext: true });
		expect(shells(started)).toMatchObject([
			{ command: "ssh host # false", output: "far away", exitCode: 3, typed: "ssh host" },
			{ command: "echo near # true", output: "near", exitCode: 0, excludeFromContext: true, typed: "echo near" },
		]);
	});

	test("a block without a reason names the hook, and block: false runs the command", async () => {
		const started = await startSession({
			hooks: {
				"a.ts": hook('pi.on("user_bash", (e) => (e.command === "no" ? { block: true } : { block: false }));'),
			},
		});
		await expect(started.session.runBash("no")).rejects.toMatchObject({
			message: "Hook a blocked the shell command: Blocked by hook a",
		});
		await started.session.runBash("echo yes");
		expect(shells(started)).toMatchObject([{ command: "echo yes", output: "yes" }]);
	});

	test("a block writes nothing and gives the reason", async () => {
		const started = await startSession({
			hooks: { "a.ts": hook('pi.on("user_bash", () => ({ block: true, reason: "not here" }));') },
		});
		await expect(started.session.runBash("echo x")).rejects.toMatchObject({
			code: "command_failed",
			message: "Hook a blocked the shell command: not here",
		});
		expect(started.session.entries.length).toBe(1);
		expect(started.session.activity.state).toBe("idle");
	});
});
