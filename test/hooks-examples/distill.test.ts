import { expect, test } from "vitest";
import { httpError, toolCall } from "../helpers/loopback-provider.js";
import { bigText, type Reading, startReading } from "./reading.js";

const FILES = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}.txt`, bigText(`f${i}`)]));
const READS = Object.keys(FILES).map((path) => [toolCall("read", { path })]);
const WRITE = [toolCall("write", { path: "new.txt", content: "new" })];
/** What is sent again costs nothing more, so that notes pay after few requests. */
const FLAT = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };

/** A session in which distilling pays after the first run. */
function start(options: Parameters<typeof startReading>[1] = {}): Promise<Reading> {
	return startReading(["distill"], { files: FILES, modelOptions: { cost: FLAT }, ...options });
}

function distilled({ session }: Reading) {
	return session.entries.filter(({ type }) => type === "distill");
}

test("a run that changed a file is rewritten as notes, from which the model gets everything back", async () => {
	const t = await start();
	t.provider.reply(...READS, WRITE, "done", "NOTES: f3 has words");
	await t.session.prompt("go");
	const request = t.provider.requests.at(-1);
	expect(request?.messages).toHaveLength(1);
	expect(request?.messages[0]?.text).toContain(`[Result of read]\n${bigText("f7")}`);
	expect(distilled(t)).toMatchObject([{ notes: "NOTES: f3 has words", model: "loopback/scripted" }]);

	const reads = t.resultEntries().slice(0, 12);
	await t.calls(["recall", { entry: reads[4] }]);
	const results = t.results();
	const [first = "", eleventh = "", last = "", written = ""] = [results[0], results[10], results[11], results[12]];
	expect(first).toMatch(/^\[read f0\.txt · \d,\d{3} tokens distilled below · recall \d+\]$/);
	expect(eleventh).toMatch(/^\[read f10\.txt · .* distilled below · recall \d+\]$/);
	expect(last).toMatch(/^\[read f11\.txt · .* distilled to notes on 12 results · recall \d+\]\nNOTES: f3 has words$/);
	expect(written).toContain("new.txt");
	expect(results.at(-1)).toBe(bigText("f4"));
	expect(await t.session.prompt("/distilled")).toMatchObject({
		status: expect.stringMatching(/^12 tool results were rewritten \(12 read\) in 1 step/),
	});
	expect(t.session.context.problems).toEqual([]);
	expect(await t.verify()).toMatchObject({ mismatch: null });
});

test("the request for the notes counts as one of the hook", async () => {
	const t = await start();
	t.provider.reply(...READS, WRITE, "done", "NOTES");
	await t.session.prompt("go");
	expect(t.session.entries.filter(({ type }) => type === "request_usage")).toMatchObject([{ purpose: "hook distill" }]);
});

test("a run that only reads is kept until a run changes a file", async () => {
	const t = await start();
	t.provider.reply(...READS, "read all");
	await t.session.prompt("look");
	expect(distilled(t)).toEqual([]);
	t.provider.reply(WRITE, "done", "NOTES");
	await t.session.prompt("change");
	expect(distilled(t)).toMatchObject([{ results: expect.any(Array), notes: "NOTES" }]);
});

test.each([
	["the model fails", httpError(400, {}, "no such luck"), /returned no notes \(.*no such luck/],
	["the model writes nothing", "", /returned no notes/],
	["the notes are longer than the results", bigText("x").repeat(20), null],
])("nothing changes if %s", async (_, reply, notice) => {
	const notices: string[] = [];
	const t = await start({ ui: { notify: (message) => void notices.push(message) } });
	t.provider.reply(...READS, WRITE, "done", reply);
	await t.session.prompt("go");
	expect(distilled(t)).toEqual([]);
	expect(notices).toEqual(notice ? [expect.stringMatching(notice)] : []);
	await t.calls(["ls", {}]);
	expect(t.results()[0]).toBe(bigText("f0"));
	expect(t.breaks().filter((at) => at > READS.length + 3)).toEqual([]);
});

test("no request is made if the notes would cost more than they save", async () => {
	const t = await start({ modelOptions: { cost: { ...FLAT, input: 10, cacheWrite: 10 } } });
	t.provider.reply(...READS, WRITE, "done");
	await t.session.prompt("go");
	expect(t.provider.requests).toHaveLength(READS.length + 2);
	expect(distilled(t)).toEqual([]);
});

test("--distill-model chooses the model, and an unknown one changes nothing", async () => {
	const notices: string[] = [];
	const ui = { notify: (message: string) => void notices.push(message) };
	const t = await start({
		ui,
		readFlags: () => ({ values: { "distill-model": "loopback-anthropic/scripted" }, problem: null }),
	});
	t.provider.reply(...READS, WRITE, "done", "NOTES");
	await t.session.prompt("go");
	expect(distilled(t)).toMatchObject([{ model: "loopback-anthropic/scripted" }]);
	const other = await start({
		ui,
		readFlags: () => ({ values: { "distill-model": "nobody/nothing" }, problem: null }),
	});
	other.provider.reply(...READS, WRITE, "done");
	await other.session.prompt("go");
	expect(distilled(other)).toEqual([]);
	expect(notices).toEqual(["distill: unknown model nobody/nothing; /model lists all models"]);
});
