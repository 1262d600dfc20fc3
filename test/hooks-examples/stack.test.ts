import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { run } from "../cli/subcommands/run.js";
import { thinking, toolCall } from "../helpers/loopback-provider.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { example } from "./example.js";

const HOOKS = ["stack.ts", "stacking.ts"].map(example);

function start(options: TestSessionOptions = {}) {
	return startSession({ hookFiles: HOOKS, files: { "a.txt": "alpha", "b.txt": "beta" }, ...options });
}

const push = (task: string) => toolCall("push", { task });
const pop = (result: string) => toolCall("pop", { result });
const read = (path: string) => toolCall("read", { path });

describe("frames", () => {
	test("leave the reply that pushes, the result and the reply that pops, and /unpop brings the work back", async () => {
		const { session, provider, sent, agentDir, cwd } = await start({ session: { kind: "new" } });
		provider.reply([push("find it")], [read("a.txt")], [read("b.txt")], [pop("It is in b.txt.")], "done", "again");
		await session.prompt("where is it?");
		expect(sent(4).filter((line) => /alpha|beta/.test(line))).toHaveLength(2);
		expect(sent(5).map((line) => line.replace(/#\S+/, ""))).toEqual([
			"user: where is it?",
			"assistant: push",
			"tool: Frame “find it” begins. It ends when you call pop with its result.",
			"user: [Summary]\n\nIt is in b.txt.",
			"assistant: pop",
			expect.stringMatching(/^tool: Frame “find it” is closed: 4 messages, \d+ → \d+ tokens · recall \d+$/),
		]);
		const popIndex = session.entries.findIndex(({ type }) => type === "stack_pop");
		const entry = session.entries[popIndex];
		expect(entry).toMatchObject({ summary: "It is in b.txt.", task: "find it" });
		const shown = entry && session.entryRenderer("stack_pop")?.(entry, PLAIN_THEME, { expanded: true });
		expect(shown).toBe("◇ popped “find it” · /unpop restores it");
		const pushed = session.entries.find(({ type }) => type === "stack_push");
		expect(pushed && session.entryRenderer("stack_push")?.(pushed, PLAIN_THEME, { expanded: true })).toBe(
			"◇ pushed “find it”",
		);

		expect(await session.prompt("/unpop")).toEqual({ kind: "command", status: "Undid the pop “find it”" });
		await session.prompt("again");
		expect(sent(6).filter((line) => /^tool: .*(alpha|beta)/.test(line))).toHaveLength(2);
		expect(session.context.problems).toEqual([]);
		const file = session.sessionFile ?? "";
		await session.dispose();
		const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: file, hooks: HOOKS });
		expect(verified).toMatchObject({ code: 0, stderr: "" });
		expect(verified.stdout).toBe("All 6 requests match the recorded ones\n");
	});

	test("are nested: the outer one replaces the inner one, and recall shows what each replaced", async () => {
		const { session, provider, sent } = await start();
		provider
			.reply([push("outer")], [read("a.txt")], [push("inner")], [read("b.txt")], [pop("inner result")])
			.reply(({ messages }) => {
				const handle = Number(/recall (\d+)/.exec(messages.at(-1)?.text ?? "")?.[1]);
				return [pop("outer result"), toolCall("recall", { entry: handle })];
			})
			.reply(({ messages }) => {
				const closed = messages.find(({ text }) => text.startsWith("Frame “outer” is closed"));
				return [toolCall("recall", { entry: Number(/recall (\d+)/.exec(closed?.text ?? "")?.[1]) })];
			})
			.reply("done");
		await session.prompt("go");
		expect(sent(6).filter((line) => line.startsWith("user: "))).toEqual([
			"user: go",
			"user: [Summary]\n\ninner result",
		]);
		expect(sent(6).some((line) => line.includes("alpha"))).toBe(true);
		const after = sent(7);
		expect(after.filter((line) => line.startsWith("user: "))).toEqual(["user: go", "user: [Summary]\n\nouter result"]);
		// What the inner frame read, and for the outer frame the result of the inner one.
		expect(after.at(-1)).toContain("beta");
		expect(after.at(-1)).not.toContain("alpha");
		expect(sent(8).at(-1)).toMatch(/alpha[\s\S]*inner result/);
		expect(sent(8).at(-1)).not.toContain("beta");
	});

	test("never replace what the user says", async () => {
		const { session, provider, sent } = await start();
		provider.reply([push("long")], [read("a.txt")], "What next?", [read("b.txt")], [pop("both read")], "done");
		await session.prompt("go");
		await session.prompt("and b.txt");
		const said = sent(6).filter((line) => line.startsWith("user: "));
		expect(said).toEqual(["user: go", "user: and b.txt", "user: [Summary]\n\nboth read"]);
		expect(sent(6).some((line) => line.includes("alpha"))).toBe(true);
		expect(sent(6).some((line) => line.includes("beta"))).toBe(false);
	});

	test("drop complete replies, so that the signed thinking of an open tool loop remains valid", async () => {
		const { session, provider } = await start({
			model: "loopback-anthropic/scripted",
			modelOptions: { reasoning: true },
		});
		const think = (n: number) => thinking(`thought ${n}`, Buffer.from(`signature ${n}`).toString("base64"));
		provider
			.reply([think(1), push("find")], [think(2), read("a.txt")], [think(3), read("b.txt"), read("a.txt")])
			.reply([think(4), pop("found"), read("b.txt")], [think(5), read("a.txt")], "done");
		await session.prompt("go");
		expect(provider.violations).toEqual([]);
		const thoughts = JSON.stringify(provider.requests.at(-1)?.body).match(/thought \d/g);
		expect(thoughts).toEqual(["thought 1", "thought 4", "thought 5"]);
		expect(session.context.problems).toEqual([]);
	});

	test("a pop without a push fails, and one without work replaces nothing", async () => {
		const { session, provider, sent } = await start();
		provider.reply([pop("nothing")], [push("a"), pop("b")], [pop("c")], "done");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: No frame is open. Call push first.");
		expect(sent(3).at(-1)).toMatch(/^tool: Frame “a” is closed: 0 messages, 0 → \d tokens/);
		expect(sent(4).at(-1)).toBe("tool: No frame is open. Call push first.");
		expect(sent(4).filter((line) => line.startsWith("user: "))).toEqual(["user: go"]);
	});

	test("a frame that /pop replaced is no longer open", async () => {
		const { session, provider, sent } = await start();
		provider.reply([push("a")], [read("a.txt")], "Hm.", "Popped.", [pop("late")], "done");
		await session.prompt("go");
		await session.prompt("/pop 1");
		await session.prompt("end");
		expect(sent(6).at(-1)).toBe("tool: No frame is open. Call push first.");
	});

	test("have no effect without stacking, and say so", async () => {
		const { session, provider, sent } = await startSession({ hookFiles: [example("stack.ts")] });
		provider.reply([push("a")], "done");
		await session.prompt("go");
		expect(sent(2).at(-1)).toBe("tool: The hook stacking is off, so frames have no effect. Work without them.");
	});
});

test("a fold of the turn of a frame replaces the result along with the turn", async () => {
	const { session, provider, sent } = await startSession({
		hookFiles: ["fold.ts", "stack.ts", "stacking.ts"].map(example),
		files: { "a.txt": "alpha" },
	});
	provider.reply([push("find it")], [read("a.txt")], [pop("the result")], "done", "next", "last");
	await session.prompt("go");
	await session.prompt("go on");
	await session.prompt("/fold 1 1 all of it");
	await session.prompt("end");
	expect(sent(6)).toEqual(["user: [Summary]\n\nall of it", "user: go on", "assistant: next", "user: end"]);
});

test("a fold of more turns than a /pop replaced replaces its summary, too", async () => {
	const { session, provider, sent } = await startSession({ hookFiles: ["fold.ts", "stacking.ts"].map(example) });
	provider.reply("a1", "a2", "POPPED", "a3", "last");
	for (const line of ["u1", "u2", "/pop 2", "u3", "/fold 1 2 all of it", "u4"]) await session.prompt(line);
	expect(sent(5)).toEqual(["user: [Summary]\n\nall of it", "user: u3", "assistant: a3", "user: u4"]);
});

test("a frame in which the session is compacted replaces what follows the summary", async () => {
	const { session, provider, sent } = await start({ userSettings: { compaction: { keepRecentTokens: 1 } } });
	provider.reply([push("find it")], [read("a.txt")], "Hm.", "SUMMARY", [read("b.txt")], [pop("the result")], "done");
	await session.prompt(`go ${"and on ".repeat(200)}`);
	await session.prompt("/compact anyway");
	await session.prompt("more");
	const last = provider.requests.length;
	const lines = sent(last).map((line) => line.replace(/#\S+/, ""));
	expect(lines.join("\n")).toContain("SUMMARY");
	expect(lines.slice(-4)).toEqual([
		"user: more",
		"user: [Summary]\n\nthe result",
		"assistant: pop",
		expect.stringContaining("tool: Frame “find it” is closed: 2 messages"),
	]);
});

/** A reply of the model: calls, or text. */
const someReply = fc.oneof(
	fc.array(fc.constantFrom("push", "pop", "read"), { minLength: 1, maxLength: 3 }),
	fc.constant("text" as const),
);

test(
	"whatever the model pushes and pops, requests are valid, contain all prompts and are computed alike again",
	async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(someReply, { minLength: 1, maxLength: 12 }),
				fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
				async (replies, unpops) => {
					const { session, provider, sent, agentDir, cwd } = await start({ session: { kind: "new" } });
					const rest = [...replies];
					const calls = { push: push("t"), pop: pop("r"), read: read("a.txt") };
					provider.on(() => {
						const next = rest.shift() ?? "text";
						return next === "text" ? "text" : next.map((name) => calls[name as keyof typeof calls]);
					});
					for (const [turn, isUndone] of unpops.entries()) {
						await session.prompt(`prompt ${turn}`);
						if (isUndone) await session.prompt("/unpop");
					}
					expect(provider.violations).toEqual([]);
					expect(session.context.problems).toEqual([]);
					const prompts = sent(provider.requests.length).filter((line) => line.startsWith("user: prompt"));
					expect(prompts).toEqual(["user: prompt 0", "user: prompt 1", "user: prompt 2"]);
					const file = session.sessionFile ?? "";
					await session.dispose();
					const verified = await run({ name: "context", verify: true }, { agentDir, cwd, session: file, hooks: HOOKS });
					expect(verified.stdout).toMatch(/^All \d+ requests match/);
				},
			),
			propertyRuns(15),
		);
	},
	PROPERTY_TIMEOUT_MS,
);
