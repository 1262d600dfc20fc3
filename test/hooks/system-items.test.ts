import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SettingsStore } from "../../src/config/settings-store.js";
import { checkSystemItem, createSystemItemsHandle, ownerOf } from "../../src/hooks/granted-handles.js";
import { createLoadedHook, type LoadedHook } from "../../src/hooks/hook-registry.js";
import { isMessageEntry, isSystemItemEntry, type SessionEntry } from "../../src/log/entry.js";
import { SessionLog } from "../../src/log/session-log.js";
import { SystemItems } from "../../src/session/prompt/prompt-queue.js";
import { SessionState } from "../../src/session/session-state.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { hook, share } from "./support.js";

const granted = (...names: string[]) => ({
	hookGrants: Object.fromEntries(names.map((name) => [name, ["systemItems"]])),
});
const item = (text: string) => `{ kind: "notification", text: "${text}" }`;
/** The message that the model receives for an item. */
const seen = (source: string, text: string) => `user: <notification source="${source}">\n${text}\n</notification>`;

describe("items", () => {
	test("are part of the next request, in order, and of the log", async () => {
		const { session, provider, sent } = await startSession({
			userSettings: granted("a.ts", "b.ts"),
			hooks: {
				"a.ts": hook(`for (const name of ["turn_start", "before_request", "tool_call", "turn_end"])
					pi.on(name, (_, ctx) => { ctx.systemItems.append({ kind: "notification", text: name }); });`),
				"b.ts": hook(`pi.on("tool_result", (_, ctx) => { ctx.systemItems.append(${item("result")}); });`),
			},
		});
		provider.reply([toolCall("ls", {})], "done");
		await session.prompt("go");
		expect(sent(1)).toEqual(["user: go", seen("a", "turn_start")]);
		expect(sent(2).slice(2)).toEqual([
			expect.stringMatching(/^assistant: .*ls/),
			expect.stringMatching(/^tool: /),
			...["before_request", "tool_call"].map((text) => seen("a", text)),
			seen("b", "result"),
			...["turn_end", "turn_start"].map((text) => seen("a", text)),
		]);
		expect(roles(session.entries)).toEqual([
			"session",
			"user",
			"a: turn_start",
			"assistant",
			"toolResult",
			"a: before_request",
			"a: tool_call",
			"b: result",
			"a: turn_end",
			"a: turn_start",
			"assistant",
		]);
	});

	test("wait for the next request while the agent is idle: nothing is written before", async () => {
		const { session, provider, sent, events } = await startSession({
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(
					`pi.command("say", { handler: (ctx) => ctx.systemItems.append({ kind: "notification", text: ctx.argsRaw }) });`,
				),
			},
		});
		provider.reply("a1", "a2");
		await session.prompt("/say one");
		await session.prompt("/say two");
		expect(session.entries.length).toBe(1);
		await session.prompt("go");
		expect(sent(1)).toEqual(["user: go", seen("a", "one"), seen("a", "two")]);
		await session.prompt("on");
		expect(sent(2)).toEqual(["user: go", seen("a", "one"), seen("a", "two"), "assistant: a1", "user: on"]);
		const told = events.flatMap((event) => (event.type === "entry_appended" ? [event.entryIndex] : []));
		expect(told).toEqual([2, 3]);
	});

	test("every message of every request has an entry, and the context names it", async () => {
		const { session, provider, sent } = await startSession({
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(`pi.on("turn_end", (_, ctx) => { ctx.systemItems.append(${item("note")}); });`),
				"b.ts": hook(`
					const hidden = { messages: [{ role: "user", content: "hidden", timestamp: 0 }], systemItems: [${item("hidden")}] };
					for (const name of ["session", "agent_start", "agent_end", "turn_start", "turn_end", "before_request", "tool_call", "tool_result"])
						pi.on(name, () => ({ ...hidden, ...(name === "before_request" ? { action: "continue" } : {}) }));`),
			},
		});
		provider.reply([toolCall("ls", {})], "done", "fine");
		await session.prompt("go");
		await session.prompt("on");
		for (const number of [1, 2, 3]) expect(sent(number).join("\n")).not.toContain("hidden");
		const reachable = session.entries.filter((entry) => isMessageEntry(entry) || isSystemItemEntry(entry));
		// The last reply is not part of any request.
		expect(sent(3).length).toBe(reachable.length - 1);
		await session.rebuildContext();
		expect(session.context.messages.map(({ entryIndex, origin }) => [entryIndex, origin.kind])).toEqual(
			session.entries.slice(1).map((entry, i) => [i + 1, isSystemItemEntry(entry) ? "system_item" : "entry"]),
		);
	});

	test("survive a resume, including items that were in no request yet", async () => {
		const agentDir = tempAgentDir();
		const sessionDir = tempDir();
		const options = { agentDir, sessionDir, userSettings: granted("a.ts") };
		const first = await startSession({
			...options,
			session: { kind: "new" },
			hooks: { "a.ts": hook(`pi.on("turn_end", (_, ctx) => { ctx.systemItems.append(${item("note")}); });`) },
		});
		first.provider.reply("a1", "a2");
		await first.session.prompt("one");
		await first.session.prompt("two");
		await first.session.dispose();
		const second = await startSession({ ...options, session: { kind: "continue" }, discoverHooks: false });
		second.provider.reply("a3");
		await second.session.prompt("three");
		expect(second.sent(1)).toEqual([
			"user: one",
			"assistant: a1",
			"user: two",
			seen("a", "note"),
			"assistant: a2",
			seen("a", "note"),
			"user: three",
		]);
	});

	test("stay with their session after a switch; an unused session leaves no file", async () => {
		const sessionDir = tempDir();
		const { session, provider, sent } = await startSession({
			sessionDir,
			session: { kind: "new" },
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(`pi.command("say", { handler: (ctx) => ctx.systemItems.append(${item("note")}) });`),
			},
		});
		await session.prompt("/say");
		await session.newSession();
		expect(readdirSync(sessionDir).filter((name) => name.endsWith(".jsonl"))).toEqual([]);
		provider.reply("a1", "a2", "a3");
		await session.prompt("one");
		await session.prompt("/say");
		const left = session.sessionFile ?? "";
		await session.newSession();
		await session.prompt("two");
		expect(sent(2)).toEqual(["user: two"]);
		await session.switchSession(left);
		await session.prompt("three");
		expect(sent(3)).toEqual(["user: one", "assistant: a1", seen("a", "note"), "user: three"]);
	});

	test("can be hidden, replaced and read by context handlers like every other message", async () => {
		const { session, provider, sent } = await startSession({
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(`pi.command("say", { handler: (ctx) => ctx.systemItems.append(${item("note")}) });`),
				"b.ts": hook(
					'pi.on("context", ({ entries, messages }) => ({ messages: messages.filter(({ entryIndex }) => entries[entryIndex]?.type !== "system_item") }));',
				),
			},
		});
		provider.reply("ok");
		await session.prompt("/say");
		await session.prompt("go");
		expect(sent(1)).toEqual(["user: go"]);
		expect(session.context.hidden).toMatchObject([{ entryIndex: 2, by: { kind: "hook" } }]);
	});

	test("of an unknown kind or without text are rejected with the hook's name, and nothing is added", async () => {
		const { session, provider, sent, notices } = await startSession({
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(`pi.on("agent_start", (_, ctx) => {
					const tries = [null, "x", [], {}, { kind: "message", text: "x" }, { kind: "notification" }, { kind: "notification", text: " " },
						{ kind: "notification", text: { toString: () => "x" } }, { kind: ["notification"], text: "x" }];
					const refused = tries.filter((item) => { try { ctx.systemItems.append(item); } catch (e) { return e.code === "entry_refused" && e.message.includes("a.ts"); } });
					throw new Error(refused.length + " of " + tries.length);
				});`),
			},
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(notices()).toEqual(["agent_start: 9 of 9"]);
		expect(sent(1)).toEqual(["user: go"]);
	});

	test("contain only kind and text, and the text is well-formed Unicode", () => {
		const given = { kind: "notification", text: "a\ud800", role: "system", source: "other" };
		expect(checkSystemItem(loadedHook(), given)).toEqual({ kind: "notification", text: "a\ufffd" });
	});

	test("cannot be added from a context handler", async () => {
		const { session, provider, notices, sent } = await startSession({
			userSettings: granted("a.ts"),
			hooks: {
				"a.ts": hook(
					`let told = false; pi.on("context", (_, ctx) => { if (told) return; told = true; ctx.systemItems.append(${item("x")}); });`,
				),
			},
		});
		provider.reply("ok");
		await session.prompt("go");
		expect(notices()).toEqual([expect.stringMatching(/^context: ctx.systemItems cannot be used in a context handler/)]);
		expect(sent(1)).toEqual(["user: go"]);
	});
});

describe("a handle", () => {
	test("exposes only append", () => {
		const handle = createSystemItemsHandle(loadedHook(), { append: () => {} }, () => {});
		expect(Reflect.ownKeys(handle)).toEqual([]);
		const prototype = Object.getPrototypeOf(handle);
		expect(Reflect.ownKeys(prototype)).toEqual(["constructor", "append"]);
		expect(Object.getPrototypeOf(prototype)).toBe(Object.prototype);
		expect(Reflect.ownKeys(prototype.constructor).sort()).toEqual(["length", "name", "prototype"]);
		expect([handle, prototype, prototype.constructor].every(Object.isFrozen)).toBe(true);
		expect(JSON.stringify(handle)).toBe("{}");
	});

	test("cannot be constructed or forged", async () => {
		const owner = loadedHook();
		const handle = createSystemItemsHandle(owner, { append: () => {} }, () => {});
		expect(ownerOf(handle)).toBe(owner);
		const refusal = expect.objectContaining({ code: "entry_refused" });
		const made: unknown = handle.constructor;
		if (typeof made !== "function") throw new Error("a class has a constructor");
		expect(() => Reflect.construct(made, [])).toThrow(refusal);
		expect(() => Reflect.construct(made, [Symbol("host"), { hook: owner }])).toThrow(refusal);

		const settings = new SettingsStore({ agentDir: tempDir(), cwd: "/" });
		const items = new SystemItems(new SessionState(SessionLog.inMemory("/"), DEFAULTS, () => {}, settings));
		const forged: unknown[] = [
			null,
			undefined,
			"systemItems",
			{ append() {} },
			{ hook: owner, check() {}, append() {} },
			Object.create(handle),
			Reflect.construct(Object, [], made),
			Object.create(Object.getPrototypeOf(handle)),
			Object.setPrototypeOf({ append() {} }, Object.getPrototypeOf(handle)),
			new Proxy(handle, {}),
			structuredClone(handle),
			{ ...handle },
		];
		for (const fake of forged) {
			expect(() => ownerOf(fake)).toThrow(refusal);
			expect(() => items.append(fake, { kind: "notification", text: "x" })).toThrow(refusal);
			expect(() => Reflect.apply(handle.append, fake, [{ kind: "notification", text: "x" }])).toThrow(refusal);
		}
	});

	test("is rejected after a reload, and the new version of the hook has its own", async () => {
		const kept: { append(item: unknown): void }[] = [];
		share("__keep", (handle: (typeof kept)[number]) => kept.push(handle));
		const { session, provider, sent } = await startSession({
			userSettings: granted("a.ts"),
			hooks: { "a.ts": hook('pi.on("session", (_, ctx) => { globalThis.__keep(ctx.systemItems); });') },
		});
		const [old] = kept;
		old?.append({ kind: "notification", text: "before the reload" });
		await session.reload();
		expect(() => old?.append({ kind: "notification", text: "late" })).toThrow(
			expect.objectContaining({ code: "hook_stale", message: expect.stringMatching(/a\.ts.*the hook was unloaded/) }),
		);
		kept.at(-1)?.append({ kind: "notification", text: "new" });
		provider.reply("ok");
		await session.prompt("go");
		expect(sent(1)).toEqual(["user: go", seen("a", "before the reload"), seen("a", "new")]);
		await session.dispose();
		expect(() => kept.at(-1)?.append({ kind: "notification", text: "late" })).toThrow(/the hook was unloaded/);
	});

	test("is rejected after a session change", async () => {
		let kept: { append(item: unknown): void } | undefined;
		share("__keep", (handle: typeof kept) => {
			kept ??= handle;
		});
		const { session } = await startSession({
			userSettings: granted("a.ts"),
			hooks: { "a.ts": hook('pi.on("session", (_, ctx) => { globalThis.__keep(ctx.systemItems); });') },
		});
		await session.newSession();
		expect(() => kept?.append({ kind: "notification", text: "late" })).toThrow(/the session changed/);
	});
});

const DEFAULTS = { model: null, thinkingLevel: "off" } as const;

function loadedHook(): LoadedHook {
	const file = { path: "/hooks/a.ts", realPath: "/hooks/a.ts", scope: "global", name: "a" } as const;
	return createLoadedHook(file, { grants: ["systemItems"] });
}

/** A short form of each entry: the role of a message, `source: text` of an item. */
function roles(entries: readonly SessionEntry[]): string[] {
	return entries.map((entry) => {
		if (isMessageEntry(entry)) return entry.message.role;
		return isSystemItemEntry(entry) ? `${entry.source}: ${entry.item.text}` : entry.type;
	});
}
