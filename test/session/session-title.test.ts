import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { SessionHandle } from "../../src/hooks/types.js";
import { createAgentSession } from "../../src/sdk/create-session.js";
import { cleanTitle } from "../../src/session/session-title.js";
import { httpError, type Reply, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";

const TITLE_MODEL = "loopback-anthropic/scripted";

/** A saved session with the setting, or with other settings. */
async function start({ userSettings = {}, ...options }: TestSessionOptions = {}) {
	const t = await startSession({
		session: { kind: "new" },
		userSettings: { titleModel: TITLE_MODEL, ...Object(userSettings) },
		modelOptions: { cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } },
		...options,
	});
	const named = () =>
		t.session.entries.flatMap((entry) => (entry.type === "session_info" && "name" in entry ? [entry.name] : []));
	/** Requests for titles. */
	const asked = () => t.provider.requests.filter(({ api }) => api === "anthropic-messages");
	/** Answers requests for titles with this, all others with `ok`. */
	const titled = (title: Reply | (() => Reply | Promise<Reply>)) =>
		t.provider.on(({ api }) => {
			if (api !== "anthropic-messages") return "I fixed the rounding.";
			return typeof title === "function" ? title() : title;
		});
	return { ...t, named, asked, titled };
}

test("after its first run, a session without a name gets the title that the model of the setting writes", async () => {
	const { session, titled, named, asked } = await start();
	titled('"Rounding of prices."');
	await session.prompt("Why is 0.1 + 0.2 wrong?");
	await expect.poll(named).toEqual(["Rounding of prices"]);
	const { messages = [], body } = asked()[0] ?? {};
	expect(messages.map(({ role }) => role)).toEqual(["user"]);
	expect(messages[0]?.text).toContain("<prompt>\nWhy is 0.1 + 0.2 wrong?\n</prompt>\n\n<reply>\nI fixed the rounding.");
	expect(body).toMatchObject({ model: "scripted", max_tokens: 2000 });
	expect(body?.tools).toBeUndefined();
	// The usage counts, like that of other requests beside the conversation.
	await expect
		.poll(() => session.entries.filter(({ type }) => type === "request_usage"))
		.toMatchObject([{ purpose: "title", provider: "loopback-anthropic", usage: { input: 10, output: 5 } }]);
	// Once only.
	await session.prompt("And now?");
	expect(asked()).toHaveLength(1);
	const saved = readFileSync(session.sessionFile ?? "", "utf8");
	expect(saved).toContain('"type":"session_info"');
});

test("without the setting nothing is asked", async () => {
	const { session, titled, named, asked } = await start({ userSettings: { titleModel: undefined } });
	titled("A title");
	await session.prompt("hello");
	await session.prompt("hello again");
	expect([asked(), named()]).toEqual([[], []]);
});

test("a project's settings name no model for titles", async () => {
	const { session, titled, asked } = await start({
		userSettings: { titleModel: undefined },
		files: { ".pi/settings.json": { titleModel: TITLE_MODEL } },
	});
	titled("A title");
	await session.prompt("hello");
	await session.prompt("hello again");
	expect(asked()).toEqual([]);
});

test("the title comes after the run, and the next prompt does not wait for it", async () => {
	let release = (): void => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const { session, titled, named, provider } = await start();
	titled(async () => {
		await held;
		return "Late title";
	});
	await session.prompt("one");
	await provider.request(2);
	await session.prompt("two");
	expect(named()).toEqual([]);
	release();
	await expect.poll(named).toEqual(["Late title"]);
});

test.each([
	["the user", (t: Awaited<ReturnType<typeof start>>) => t.session.prompt("/name mine")],
	["a program", async (t: Awaited<ReturnType<typeof start>>) => t.session.setName("mine")],
])("a name that %s gives meanwhile is kept", async (_, give) => {
	let release = (): void => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const t = await start();
	t.titled(async () => {
		await held;
		return "Late title";
	});
	await t.session.prompt("one");
	const { closed } = await t.provider.request(2);
	await give(t);
	release();
	await closed;
	await expect.poll(() => t.session.entries.some(({ type }) => type === "request_usage")).toBe(true);
	expect(t.named()).toEqual(["mine"]);
});

test("a session that has a name is not asked about", async () => {
	const { session, titled, asked, named } = await start();
	titled("A title");
	session.setName("mine");
	await session.prompt("hello");
	await session.prompt("hello again");
	expect([asked(), named()]).toEqual([[], ["mine"]]);
});

test("a session that is not saved has no title", async () => {
	const { session, titled, asked } = await start({ session: { kind: "memory" } });
	titled("A title");
	await session.prompt("hello");
	await session.prompt("hello again");
	expect(asked()).toEqual([]);
});

test.each(["print", "json"] as const)(
	"a session of the mode %s, which ends with its run, has no title",
	async (mode) => {
		const { session, titled, asked } = await start();
		titled("A title");
		session.mode = mode;
		await session.prompt("hello");
		await session.prompt("hello again");
		expect(asked()).toEqual([]);
	},
);

test("a resumed session with replies keeps its first prompt as title; a new one after it gets its own", async () => {
	const first = await start({ userSettings: { titleModel: undefined } });
	first.titled("A title");
	await first.session.prompt("hello");
	const { sessionFile } = first.session;
	await first.session.dispose();
	const { session, titled, asked, named } = await start({
		agentDir: first.agentDir,
		cwd: first.cwd,
		session: { kind: "open", target: sessionFile ?? "" },
	});
	titled("Of the new one");
	await session.prompt("and again");
	expect(named()).toEqual([]);
	expect(asked()).toEqual([]);
	await session.newSession();
	await session.prompt("another thing");
	await expect.poll(named).toEqual(["Of the new one"]);
});

test("the answer for a session that was left names no other one", async () => {
	let release = (): void => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	const { session, titled, named, provider } = await start();
	titled(async () => {
		await held;
		return "Late title";
	});
	await session.prompt("one");
	const { closed } = await provider.request(2);
	const left = session.sessionFile ?? "";
	await session.newSession();
	release();
	await closed;
	await session.prompt("/name mine");
	expect(named()).toEqual(["mine"]);
	expect(readFileSync(left, "utf8")).not.toContain("session_info");
});

test("a failed first run asks for nothing; the first that succeeds does", async () => {
	const { session, provider, titled, named, asked } = await start();
	provider.reply(httpError(400, {}, "no"));
	titled("A title");
	await session.prompt("hello");
	expect(asked()).toEqual([]);
	await session.prompt("hello again");
	await expect.poll(named).toEqual(["A title"]);
});

test.each([
	["fails", httpError(400, {}, "no titles here")],
	["is empty", ""],
	["has nothing but decoration", '** " **'],
])("an answer that %s changes nothing and says nothing", async (_, reply) => {
	const { session, titled, named, asked, notices } = await start();
	titled(reply === "" ? { content: [] } : reply);
	await session.prompt("hello");
	await expect.poll(() => asked().length).toBe(1);
	expect(await asked()[0]?.closed).toBe(true);
	await session.prompt("hello again");
	expect([named(), notices(), asked().length]).toEqual([[], [], 1]);
});

test("a model that is not known is reported once", async () => {
	const { session, titled, notices } = await start({ userSettings: { titleModel: "nobody/nothing" } });
	titled("A title");
	await session.prompt("hello");
	const line = "The setting titleModel names nobody/nothing, which is not known · /settings changes it";
	await expect.poll(notices).toEqual([line]);
});

test("the end of the session ends the request", async () => {
	const { session, provider, titled } = await start();
	titled({ fault: { kind: "stall", at: "headers" } });
	await session.prompt("hello");
	const { closed } = await provider.request(2);
	await session.dispose();
	expect(await closed).toBe(false);
	expect(readFileSync(session.sessionFile ?? "", "utf8")).not.toContain("session_info");
});

test("a budget that is spent asks nothing", async () => {
	const { session, titled, asked, provider } = await start({ userSettings: { budget: { perSession: 0.000001 } } });
	titled("A title");
	await session.prompt("hello");
	await expect.poll(() => session.isRunning).toBe(false);
	expect([asked(), provider.requests.length]).toEqual([[], 1]);
});

test("a sub-session gets no title", async () => {
	let parent: SessionHandle | undefined;
	const { session, titled, asked, named, cwd } = await start({
		hooks: {
			"handle.ts": "export default (pi) => pi.on('turn_start', (_, ctx) => globalThis.keepHandle(ctx.session));",
		},
	});
	Object.assign(globalThis, { keepHandle: (handle: SessionHandle) => (parent = handle) });
	onTestFinished(() => void Reflect.deleteProperty(globalThis, "keepHandle"));
	titled("A title");
	session.setName("mine");
	await session.prompt("hello");
	const child = await createAgentSession({ parent: parent ?? expect.fail(), cwd });
	await child.start();
	await child.prompt("a task");
	await child.prompt("more");
	expect(child.sessionFile).not.toBeNull();
	await child.dispose();
	expect([asked(), named()]).toEqual([[], ["mine"]]);
});

test("secrets that a hook masks are masked in the request for the title, too", async () => {
	const secret = `sk-${"a1b2c3d4".repeat(4)}`;
	const { session, titled, asked } = await start({ hookFiles: ["pi:redact"] });
	titled("A title");
	await session.prompt(`My key is ${secret}`);
	await expect.poll(() => asked().length).toBe(1);
	expect(JSON.stringify(asked()[0]?.body)).toContain("[API key masked]");
	expect(JSON.stringify(asked()[0]?.body)).not.toContain(secret);
});

test("the reply is the last text of the run", async () => {
	const { session, provider, titled, asked } = await start({ files: { "a.txt": "1" } });
	provider.reply([toolCall("read", { path: "a.txt" })]);
	titled("A title");
	await session.prompt("read it");
	await expect.poll(() => asked().length).toBe(1);
	expect(asked()[0]?.messages[0]?.text).toContain("<reply>\nI fixed the rounding.\n</reply>");
});

test.each([
	["Fix the parser", "Fix the parser"],
	['"Fix the parser."', "Fix the parser"],
	["**Title: Fix the parser**", "Fix the parser"],
	["# Fix the parser\n\nBecause it is wrong.", "Fix the parser"],
	["\n\n  «Prüfung der Preise»  ", "Prüfung der Preise"],
	["Parser: rounding, prices & more", "Parser: rounding, prices & more"],
	["a b c d e f g h i j k", "a b c d e f g h…"],
	["\x1b[31mred\x1b[0m \u202eevil\u200b\tname\r\nmore", "[31mred[0m evilname"],
	["x".repeat(5000), `${"x".repeat(71)}…`],
	["…", "…"],
	["<think>\nthe user wants\n</think>\n\nFix the parser", "Fix the parser"],
	["...", ""],
	['""', ""],
	["", ""],
])("the answer %j is the title %j", (answer, title) => {
	expect(cleanTitle(answer)).toBe(title);
});
