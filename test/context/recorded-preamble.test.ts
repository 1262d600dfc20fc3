import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import { type CorePreamble, type Preamble, plainPreamble } from "../../src/context/preamble.js";
import {
	coreAt,
	coreOfReply,
	frozenPreamble,
	isSentPreamble,
	PreambleRecorder,
	readRecordedPreamble,
} from "../../src/context/recorded-preamble.js";
import type { ActiveCompaction, ActiveFreeze } from "../../src/context/replacement.js";
import type { RecordedPreamble, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, compaction, session, user } from "../helpers/entries.js";
import { core, stage, tool } from "./preamble-support.js";

const CORE = core();
const USER = session(user("u1"));
const [BASE, TOOLS] = CORE.sections;

async function preambleOf(stages: ContextStage[] = [], from: CorePreamble = CORE): Promise<Preamble> {
	return (await buildContext(USER, stages, { preamble: from })).preamble;
}

function replyWith(preamble: RecordedPreamble): SessionEntry {
	return freezeDeep({ ...assistant("ok"), context: { digest: "", messages: 0, tokens: 0, preamble } });
}

/** A log to which each described preamble adds a reply. */
function recording(recorder = new PreambleRecorder()) {
	const entries: SessionEntry[] = [...USER];
	const record = (preamble: Preamble) => {
		const described = recorder.describe(preamble, entries);
		entries.push(replyWith(described));
		recorder.recorded(entries.length - 1);
		return described;
	};
	return { entries, recorder, record };
}

const note = (id: string, text: string) =>
	stage("notes", (sections) => ({ systemPrompt: [...sections, { id: `notes:${id}`, text }] }));
const readOnly = stage("ro", () => ({ tools: ["read"] }));
const noGenerated = () => ({ base: "not used" });

describe("a recorded preamble", () => {
	test("writes each section and tool once, and later only refers to them", async () => {
		const { entries, record } = recording();
		const plain = await preambleOf();
		const parts = [...CORE.sections, ...CORE.tools];
		expect(record(plain)).toEqual({ parts, core: parts.map((_, at) => at) });
		// The same object, and an equal one.
		expect(record(plain)).toEqual({ reply: 2 });
		expect(record(plainPreamble(core()))).toEqual({ reply: 2 });
		const ruled = record(await preambleOf([note("a", "A")]));
		expect(ruled).toEqual({
			parts: [{ id: "notes:a", text: "A" }],
			core: parts.map((_, at) => [2, at]),
			sent: [...CORE.sections.map((_, at) => [2, at]), 0, ...CORE.tools.map((_, at) => [2, CORE.sections.length + at])],
		});
		expect(record(await preambleOf([note("a", "A")]))).toEqual({ reply: 5 });
		expect(readRecordedPreamble(entries, 6)).toBe(readRecordedPreamble(entries, 5));
		expect(readRecordedPreamble(entries, 5)).toEqual({
			core: { sections: CORE.sections, tools: CORE.tools },
			sent: { sections: [...CORE.sections, { id: "notes:a", text: "A" }], tools: CORE.tools },
			generated: {},
		});
	});

	test("names the sections that pi generated for other tools, also those that it left out", async () => {
		const { entries, record } = recording();
		const preamble = await preambleOf([stage("none", () => ({ tools: [] }))]);
		const described = record(preamble);
		expect(described).toMatchObject({ generated: { skills: null, tools: expect.any(Number) } });
		const past = readRecordedPreamble(entries, 2);
		expect(past?.generated).toEqual({ skills: "", tools: "You have no tools: answer from the conversation." });
		expect(past?.sent.tools).toEqual([]);
		// The same sections with other generated texts are another preamble.
		expect(record(await preambleOf([readOnly]))).toHaveProperty("parts");
	});

	test("is written with the parts of the last record after a restart, and once more for another log", async () => {
		const first = recording();
		first.record(await preambleOf([note("a", "A")]));
		first.record(await preambleOf([note("b", "B")]));
		first.entries.push(user("u2"));
		const after = recording();
		after.entries.splice(0, after.entries.length, ...first.entries);
		const described = after.record(await preambleOf([note("a", "A"), note("b", "B")]));
		// The last record refers to the core of the first, and holds its own note; the first note is forgotten.
		expect(described).toMatchObject({ parts: [{ id: "notes:a", text: "A" }] });
		expect(JSON.stringify(described)).toContain("[3,0]");
		const again = recording();
		again.entries.splice(0, again.entries.length, ...first.entries, replyWith({ reply: 3 }));
		expect(again.record(await preambleOf([note("b", "B")]))).toMatchObject({ parts: [] });
		after.recorder.reset();
		const other = recording(after.recorder);
		expect(other.record(await preambleOf([note("a", "A"), note("b", "B")]))).toMatchObject({
			parts: [...CORE.sections, ...CORE.tools, { id: "notes:a" }, { id: "notes:b" }],
		});
	});

	test("does not read a long session without records to its start", async () => {
		const entries = session(...Array.from({ length: 5000 }, () => assistant("from another program")));
		const read = new Set<number>();
		const at = (index: number) => {
			read.add(index);
			return entries[index];
		};
		expect(new PreambleRecorder().describe(await preambleOf(), { length: entries.length, at })).toHaveProperty("parts");
		expect([read.size, Math.min(...read)]).toEqual([500, 4501]);
	});

	test("that was described but not stored is described again", async () => {
		const { entries, recorder, record } = recording();
		const plain = await preambleOf();
		const described = recorder.describe(plain, entries);
		expect(recorder.describe(plain, entries)).toEqual(described);
		recorder.recorded(7);
		recorder.recorded(8); // nothing new was described
		expect(recorder.describe(plain, entries)).toEqual({ reply: 7 });
		recorder.recorded(9);
		expect(record(plain)).toEqual({ reply: 7 });
	});

	test("keeps the sections of hooks within a limit for one request and for all", async () => {
		const { record } = recording();
		const sentOf = (described: RecordedPreamble) => "sent" in described;
		const size = (id: string, characters: number) => preambleOf([note(id, "x".repeat(characters))]);
		expect(sentOf(record(await size("too-long", 2_000_001)))).toBe(false);
		expect(sentOf(record(await size("long", 1_900_000)))).toBe(true);
		// 100 000 are left, and each request adds 200 000.
		expect(sentOf(record(await size("next", 350_000)))).toBe(false);
		expect(sentOf(record(await size("last", 350_000)))).toBe(true);
		expect(sentOf(record(await size("long", 1_900_000)))).toBe(false); // a reference to the earlier record
	});

	test("without what was sent counts as the core", async () => {
		const { entries, record } = recording();
		record(await preambleOf([note("long", "x".repeat(2_100_000))]));
		const past = readRecordedPreamble(entries, 2);
		expect(past?.sent).toBe(past?.core);
		expect(past?.core.sections).toEqual(CORE.sections);
	});
});

describe("a record that refers to what is missing", () => {
	const own: RecordedPreamble = { parts: [BASE ?? { id: "", text: "" }, tool("read")], core: [0, 1] };

	test.each<[string, RecordedPreamble]>([
		["a part that does not exist", { parts: [], core: [0] }],
		["a part of an entry that is no reply", { parts: [], core: [[1, 0]] }],
		["a part that the other record lacks", { parts: [], core: [[2, 5]] }],
		["a sent part that does not exist", { parts: [], core: [[2, 0]], sent: [3] }],
		["a generated part that does not exist", { parts: [], core: [[2, 0]], generated: { tools: 4 } }],
		["a tool as a generated section", { parts: [], core: [[2, 0]], generated: { tools: [2, 1] } }],
		["an entry without a record", { reply: 1 }],
		["itself", { reply: 3 }],
		["a later reply", { reply: 4 }],
		["a reference", { reply: 5 }],
	])("cannot be read: %s", (_, record) => {
		const entries = [...USER, replyWith(own), replyWith(record), replyWith(own), replyWith({ reply: 2 })];
		expect(readRecordedPreamble(entries, 3)).toBeNull();
		expect(coreOfReply(entries, 3, noGenerated)).toBeNull();
	});

	test("a reply without a record, and an entry that does not exist, have none", () => {
		const entries = [...USER, assistant("old")];
		expect([1, 2, 9].map((index) => readRecordedPreamble(entries, index))).toEqual([null, null, null]);
	});

	test("is left out of the next description", () => {
		const recorder = new PreambleRecorder();
		const entries = [...USER, replyWith({ parts: [], core: [[1, 0]], sent: [0], generated: { a: null, b: [9, 0] } })];
		expect(recorder.describe(plainPreamble(CORE), entries)).toMatchObject({ parts: [...CORE.sections, ...CORE.tools] });
		const broken = new PreambleRecorder();
		expect(broken.describe(plainPreamble(CORE), [...USER, replyWith({ reply: 1 })])).toHaveProperty("parts");
	});
});

describe("the core at a point of a session", () => {
	test("is that of the reply there, or of the last one before", async () => {
		const { entries, record } = recording();
		record(await preambleOf());
		entries.push(user("u2"));
		record(await preambleOf([], core(["read"], "Use spaces.")));
		const text = (end: number) => coreAt(entries, end, noGenerated)?.sections[2]?.text;
		expect([text(2), text(3), text(4), text(5)]).toEqual([
			CORE.sections[2]?.text,
			CORE.sections[2]?.text,
			expect.stringContaining("Use spaces."),
			expect.stringContaining("Use spaces."),
		]);
		expect([coreAt(entries, 1, noGenerated), coreAt(entries, 0, noGenerated)]).toEqual([null, null]);
		expect(coreAt(entries, 4, noGenerated)).toBe(coreAt(entries, 5, noGenerated));
	});

	test("has the generated sections of the tools that were offered, and generates others", async () => {
		const { entries, record } = recording();
		const preamble = await preambleOf([readOnly]);
		record(preamble);
		const asked: unknown[] = [];
		const past = coreOfReply(entries, 2, (sections, tools) => {
			asked.push(sections, tools);
			return { tools: "generated again" };
		});
		expect(past?.generate(preamble.tools)).toEqual({ tools: core(["read"]).sections[1]?.text });
		expect(asked).toEqual([]);
		expect(past?.generate([tool("bash")])).toEqual({ tools: "generated again" });
		expect(asked).toEqual([CORE.sections, [tool("bash")]]);
		expect([past?.sections, past?.tools]).toEqual([CORE.sections, CORE.tools]);
	});
});

describe("a frozen request", () => {
	const freezeAt = (reply: number): ActiveFreeze => ({
		...{ kind: "freeze", entryIndex: reply + 1, firstKeptEntryIndex: reply, messages: [] },
		entry: { type: "context_freeze", timestamp: "", entryIndex: reply },
	});

	test("keeps its sections, and those of its tools that still exist", async () => {
		const { entries, record } = recording();
		record(await preambleOf([note("a", "A"), stage("some", () => ({ tools: ["edit", "read"] }))]));
		const now = core(["bash", "read"]);
		const frozen = frozenPreamble(now, freezeAt(2), entries);
		expect(frozen.sections.map(({ id }) => id)).toContain("notes:a");
		expect(frozen.tools).toEqual([now.tools[1]]);
		expect(frozen.tools[0]).toBe(now.tools[1]);
		expect([frozen.isFrozen, frozen.generate([])]).toEqual([true, {}]);
		expect(frozenPreamble(now, freezeAt(2), entries)).toBe(frozen);
		expect(frozenPreamble(core(["bash", "read"]), freezeAt(2), entries)).not.toBe(frozen);
		const sent = readRecordedPreamble(entries, 2)?.sent;
		record(await preambleOf([note("b", "B")]));
		expect(frozenPreamble(now, freezeAt(3), entries)).not.toBe(frozen);
		expect(frozen.sections).toBe(sent?.sections);
	});

	test("changes nothing if hooks did not change it, or without a freeze", async () => {
		const { entries, record } = recording();
		record(await preambleOf());
		expect(frozenPreamble(CORE, freezeAt(2), entries)).toBe(CORE);
		expect(frozenPreamble(CORE, freezeAt(1), entries)).toBe(CORE);
		expect(frozenPreamble(CORE, null, entries)).toBe(CORE);
		record(await preambleOf([note("a", "A")]));
		const compacted: ActiveCompaction = {
			...{ kind: "compaction", entry: compaction(3, "S"), entryIndex: 4, firstKeptEntryIndex: 3, keptPrompts: [] },
		};
		expect(frozenPreamble(CORE, compacted, entries)).toBe(CORE);
	});

	test.each([
		["the order of tools", stage("order", () => ({ tools: ["edit", "bash", "read"] }))],
		["fewer tools", readOnly],
		[
			"one text",
			stage("loud", (sections) => ({
				systemPrompt: sections.map(({ id, text }) => ({ id, text: id === "base" ? "LOUD" : text })),
			})),
		],
		["one section less", stage("drop", (sections) => ({ systemPrompt: sections.filter(({ id }) => id !== "skills") }))],
	])("is one if hooks changed %s", async (_, change) => {
		const { entries, record } = recording();
		record(await preambleOf([change]));
		expect(frozenPreamble(CORE, freezeAt(2), entries).isFrozen).toBe(true);
	});
});

test("parts are compared with the digests of what was sent", async () => {
	const { systemDigest: system, toolsDigest: tools } = await preambleOf();
	const record = { digest: "", messages: 0, tokens: 0, system };
	const sent = { sections: CORE.sections, tools: CORE.tools };
	expect(isSentPreamble(sent, { ...record, tools })).toBe(true);
	expect(isSentPreamble({ ...sent, tools: [] }, { ...record, tools })).toBe(false);
	expect(isSentPreamble({ ...sent, sections: [] }, { ...record, tools })).toBe(false);
	expect(isSentPreamble(null, { ...record, tools })).toBe(false);
	expect(TOOLS?.id).toBe("tools");
});
