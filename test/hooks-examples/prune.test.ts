import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("prune.ts");
const BIG = `${"head ".repeat(300)}${"middle ".repeat(800)}${"tail ".repeat(300)}`;

/** A session in which every turn reads a file: `read 1`, `read 2` … */
async function reading(content: string) {
	const test = await startSession({ hookFiles: [HOOK], files: { "a.txt": content } });
	test.provider.on(({ messages }) =>
		messages.at(-1)?.role === "tool" ? "done" : [toolCall("read", { path: "a.txt" })],
	);
	const turns = async (count: number) => {
		for (let i = 0; i < count; i++) await test.session.prompt("read");
	};
	/** Lengths of the tool results in the last request, in order. */
	const outputs = () => (test.provider.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
	return { ...test, turns, outputs };
}

test("truncates outputs of old turns to head and tail, but not those of the latest turns", async () => {
	const { turns, outputs, session } = await reading(BIG);
	await turns(9);
	expect(outputs().every(({ text }) => text.length > 8000)).toBe(true);
	await turns(1);
	const lengths = outputs().map(({ text }) => text.length > 8000);
	expect(lengths).toEqual([...Array(5).fill(false), ...Array(5).fill(true)]);
	const cut = outputs()[0]?.text ?? "";
	expect(cut).toMatch(/head head[\s\S]*\[… \d+ characters omitted …\][\s\S]*tail tail/);
	expect(cut).toContain("[This old output was truncated. Run the tool again to see all of it.]");
	// The log still contains the full outputs.
	expect(JSON.stringify(session.entries.slice(0, 4))).toContain("middle middle");
	expect(session.context.problems).toEqual([]);
});

test("moves its border in steps: between them each request starts with the complete previous one", async () => {
	const { turns, provider } = await reading(BIG);
	await turns(16);
	const texts = provider.requests.map(({ messages }) => messages.map(({ role, text }) => `${role} ${text}`));
	const breaks = texts.slice(1).flatMap((list, i) => (texts[i]?.every((text, at) => list[at] === text) ? [] : [i + 1]));
	// Requests 18 and 28 are the first of the 10th and of the 15th turn.
	expect(breaks).toEqual([18, 28]);
});

test("truncates within one long turn if it has too many tokens of output", async () => {
	const { session, provider, outputs } = await reading(`${"word ".repeat(400)}\n`.repeat(20));
	let calls = 0;
	provider.on(() => (calls++ < 8 ? [toolCall("read", { path: "a.txt" })] : "done"));
	await session.prompt("read it often");
	const full = outputs().map(({ text }) => text.length > 30_000);
	expect(full.filter((isFull) => !isFull).length).toBeGreaterThanOrEqual(1);
	expect(full.slice(-4)).toEqual([true, true, true, true]);
	expect(full).toEqual([...full].sort());
});

test("/prune reports the saved tokens", async () => {
	const { session, turns } = await reading(BIG);
	expect(await session.prompt("/prune")).toEqual({
		kind: "command",
		status: "No output is truncated: 0 tool outputs, 0 tokens",
	});
	await turns(10);
	expect(await session.prompt("/prune")).toEqual({
		kind: "command",
		status: expect.stringMatching(/^5 of 10 tool outputs are truncated: \d+\.\dk → \d+\.\dk tokens$/),
	});
});

test("does not change short outputs", async () => {
	const { turns, outputs } = await reading("short");
	await turns(11);
	expect(new Set(outputs().map(({ text }) => text)).size).toBe(1);
	expect(outputs()[0]?.text).not.toContain("cut");
});
