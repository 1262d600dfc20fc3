import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { startSession } from "../helpers/session.js";

/** Shouts each prompt: the value is computed by a handler, and the context has it. @param at of the derivation */
const shout = (at: string, body = "globalThis.__shouted.push(input); return input.toUpperCase();") => `
	globalThis.__shouted ??= [];
	export default (pi) => {
		const shouted = pi.derive("shouted", {
			at: ${JSON.stringify(at)},
			from: (entries) => entries.flatMap((entry) => entry.type === "message" && entry.message.role === "user" ? [entry.message.content] : []),
			async run(input, ctx) { ${body} },
		});
		pi.on("context", ({ entries, messages }) => ({
			messages: messages.map((item) => {
				const value = item.message.role === "user" ? shouted.get(item.message.content, entries) : undefined;
				return value === undefined ? item : { message: { ...item.message, content: value }, entryIndex: item.entryIndex };
			}),
		}));
	};
`;

const shouted = () => Reflect.get(globalThis, "__shouted") as unknown[];

test("a value is computed once for equal inputs, remembered in the session, and part of requests that can be computed again", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const hooks = { "shout.ts": shout("turn_start") };
	const { session, provider, sent, agentDir, cwd } = await startSession({ hooks, session: { kind: "new" } });
	provider.reply("one", "two", "three");
	for (const prompt of ["hello", "hello", "more"]) await session.prompt(prompt);
	expect(shouted()).toEqual(["hello", "more"]);
	expect(sent(3)).toEqual(["user: HELLO", "assistant: one", "user: HELLO", "assistant: two", "user: MORE"]);
	const values = session.entries.filter(({ type }) => type === "shout:shouted");
	expect(values).toMatchObject([{ input: expect.stringMatching(/^[0-9a-f]{64}$/), value: "HELLO" }, { value: "MORE" }]);
	const path = session.sessionFile ?? "";
	await session.dispose();

	const later = await startSession({ provider, agentDir, cwd, session: { kind: "open", target: path } });
	provider.reply("four");
	await later.session.prompt("hello");
	expect(shouted()).toEqual(["hello", "more"]);
	expect(sent(4).at(-1)).toBe("user: HELLO");
	await later.session.dispose();
	const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: path });
	expect(verified.stdout).toBe("All 4 requests match the recorded ones\n");
});

test("by default values are computed after the answer, and the next request has them", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const { session, provider, sent } = await startSession({ hooks: { "shout.ts": shout("agent_settled") } });
	provider.reply("one", "two");
	await session.prompt("hello");
	expect(sent(1)).toEqual(["user: hello"]);
	await session.prompt("more");
	expect(sent(2)).toEqual(["user: HELLO", "assistant: one", "user: more"]);
});

test("a failure is reported with the hook, does not stop the other inputs, and is not tried again", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const body = `globalThis.__shouted.push(input); if (input === "bad") throw new Error("no voice"); return input.toUpperCase();`;
	const { session, provider, sent, notices } = await startSession({ hooks: { "shout.ts": shout("turn_start", body) } });
	provider.reply("one", "two");
	await session.prompt("bad");
	await session.prompt("good");
	expect(notices().filter((line) => line.includes("no voice"))).toHaveLength(1);
	expect(sent(2)).toEqual(["user: bad", "assistant: one", "user: GOOD"]);
	expect(shouted()).toEqual(["bad", "good"]);
});

test("what an abort interrupts is tried again, and what returns nothing is not", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const body = `
		globalThis.__shouted.push(input);
		if (input === "never") return undefined;
		if (globalThis.__shouted.length > 1) return "LATE";
		return new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
	`;
	const { session, provider, sent } = await startSession({ hooks: { "shout.ts": shout("turn_start", body) } });
	provider.reply("one", "two");
	const first = session.prompt("slow");
	await expect.poll(shouted).toEqual(["slow"]);
	await session.abort();
	await first;
	await session.prompt("never");
	await session.prompt("never");
	expect(shouted().filter((input) => input === "never")).toEqual(["never"]);
	expect(sent(1)[0]).toBe("user: LATE");
});

test.each([
	["pi.derive('')", "the name of a derivation must be a non-empty string"],
	["pi.derive('x', { from: () => [], run: () => 1, every: 1 })", "the derivation x has the unknown option every"],
	[
		"pi.derive('x', { from: () => [], run: () => 1 }); pi.derive('x', { from: () => [], run: () => 2 })",
		"there are two derivations x",
	],
	["pi.derive('x', { from: () => [] })", "the derivation x needs the functions from and run"],
	[
		"pi.derive('x', { from: () => [], run: () => 1, at: 'now' })",
		"at of the derivation x must be one of turn_start, turn_end, agent_settled",
	],
])("%s does not load: %s", async (call, reason) => {
	const { notices } = await startSession({ hooks: { "a.ts": `export default (pi) => { ${call}; };` } });
	expect(notices().join("\n")).toContain(reason);
});

test("a value that comes after an abort is dropped, and the input is tried again", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const body = `
		globalThis.__shouted.push(input);
		if (globalThis.__shouted.length > 1) return input.toUpperCase();
		await new Promise((resolve) => { globalThis.__finish = resolve; });
		return "LATE";
	`;
	const { session, provider, sent } = await startSession({ hooks: { "shout.ts": shout("turn_start", body) } });
	provider.reply("one");
	const first = session.prompt("slow");
	await expect.poll(shouted).toEqual(["slow"]);
	await session.abort();
	await first;
	await session.prompt("more");
	Reflect.get(globalThis, "__finish")();
	expect(shouted().filter((input) => input === "slow")).toHaveLength(2);
	expect(sent(1)).toEqual(["user: SLOW", "user: MORE"]);
	expect(session.entries.filter(({ type }) => type === "shout:shouted")).toHaveLength(2);
});

test("two hooks can have a derivation of the same name", async () => {
	Reflect.set(globalThis, "__shouted", []);
	const hooks = { "a.ts": shout("turn_start"), "b.ts": shout("turn_start", "return undefined;") };
	const { session, provider, sent, notices } = await startSession({ hooks });
	provider.reply("one");
	await session.prompt("hello");
	expect(sent(1)).toEqual(["user: HELLO"]);
	expect(notices()).toEqual([]);
});
