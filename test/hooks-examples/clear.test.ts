import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { bigText, startReading } from "./reading.js";

const FILES = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}.txt`, bigText(`f${i}`)]));
const reads = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, i) => ["read", { path: `f${from + i}.txt` }] as const);

test("old results become a line with a handle in one step, and the latest 30,000 tokens stay", async () => {
	const t = await startReading(["clear"], { files: FILES });
	await t.calls(...reads(0, 25));
	const steps = t.session.entries.filter(({ type }) => type === "clear");
	expect(steps).toHaveLength(1);
	const [first = 0] = t.resultEntries();
	const results = t.results();
	expect(results[0]).toMatch(new RegExp(`^\\[read f0\\.txt · \\d,\\d{3} tokens cleared · recall ${first}\\]$`));
	const full = results.map((text) => text.length > 1000);
	expect(full).toEqual([...full].sort());
	const kept = full.filter(Boolean).length;
	expect([kept >= 6, kept < 25]).toEqual([true, true]);
	// The log still has everything.
	expect(JSON.stringify(t.session.entries[first])).toContain("f0 word word");
	expect(t.session.context.problems).toEqual([]);
	expect(t.notices()).toEqual([]);
});

test("each request begins with the one before, except after a step", async () => {
	const t = await startReading(["clear"], { files: FILES });
	await t.calls(...reads(0, 30));
	await t.calls(...reads(30, 60));
	const steps = t.session.entries.filter(({ type }) => type === "clear").length;
	expect(steps).toBeGreaterThan(1);
	expect(t.breaks()).toHaveLength(steps);
	expect(await t.verify()).toMatchObject({ requests: t.provider.requests.length, mismatch: null });
});

test("nothing is cleared as long as it does not pay", async () => {
	const t = await startReading(["clear"], { files: FILES });
	await t.calls(...reads(0, 12));
	expect(t.session.entries.filter(({ type }) => type === "clear")).toEqual([]);
	expect(t.breaks()).toEqual([]);
});

test("the model gets the full text of a cleared result back", async () => {
	const t = await startReading(["clear"], { files: FILES });
	await t.calls(...reads(0, 25));
	const [entry] = t.resultEntries();
	await t.calls(["recall", { entry }]);
	expect(t.results().at(-1)).toBe(bigText("f0"));
	expect(t.session.context.problems).toEqual([]);
});

test("results that the model has not seen yet are never cleared", async () => {
	const t = await startReading(["clear"], { files: FILES });
	t.provider.reply(
		reads(0, 40).map(([name, args]) => toolCall(name, args)),
		"done",
	);
	await t.session.prompt("read all at once");
	expect(t.results().map((text) => text.split(" ")[0])).toEqual(
		Object.keys(FILES)
			.slice(0, 40)
			.map((name) => name.replace(".txt", "")),
	);
});

test("without the tool recall nothing is cleared", async () => {
	const t = await startReading(["clear"], { files: FILES, tools: ["read"] });
	await t.calls(...reads(0, 25));
	expect(JSON.stringify(t.provider.requests.at(-1)?.body)).not.toContain("recall");
	expect(t.session.entries.filter(({ type }) => type === "clear")).toEqual([]);
});

test("/cleared shows what was cleared and what that saved", async () => {
	const t = await startReading(["clear"], { files: FILES });
	expect(await t.session.prompt("/cleared")).toMatchObject({ status: "No tool results were cleared yet" });
	await t.calls(...reads(0, 25));
	expect(await t.session.prompt("/cleared")).toMatchObject({
		status: expect.stringMatching(
			/^\d+ tool results were cleared \(\d+ read\) in 1 step · \d+\.\dk tokens less per request · about \$\d\.\d\d (more|less) so far$/,
		),
	});
});

test("a malformed step in the log changes nothing", async () => {
	const t = await startReading(["clear"], {
		files: FILES,
		hooks: {
			"bad.ts": `export default (pi) => pi.on("agent_start", async (_, ctx) => {
				await ctx.saveEntry({ type: "clear", results: "all" });
				await ctx.saveEntry({ type: "clear", results: [1, 2, 9999, -1], saved: 5, resent: 5 });
			});`,
		},
	});
	await t.calls(["read", { path: "f0.txt" }]);
	expect(t.results()).toEqual([bigText("f0")]);
	expect(t.notices()).toEqual([]);
});
