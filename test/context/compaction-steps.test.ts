import { expect, test } from "vitest";
import { describeCompaction } from "../../src/context/compaction-steps.js";
import { assistant, session, user } from "../helpers/entries.js";

const ENTRIES = session(user("one"), assistant("two"), user("three"));

test.each<[Parameters<typeof describeCompaction>[0], string[]]>([
	[{}, []],
	[{ firstKeptEntryIndex: 2 }, []],
	[{ firstKeptEntryIndex: 2, keptEntries: [1] }, ["splits the last turn", "keeps 1 prompt of it verbatim"]],
	[{ firstKeptEntryIndex: 3, keptEntries: [1, 2] }, ["keeps 2 prompts of it verbatim"]],
	[{ keptEntries: [1] }, ["keeps 1 prompt of it verbatim"]],
	[{ shortened: [{ entryIndex: 1, characters: 9 }] }, ["shortens 1 output"]],
	[{ details: { parts: 1, model: "p/m" } }, []],
	[{ details: { parts: 2 } }, ["summarized in 2 parts"]],
	[{ details: { model: null } }, ["summarized without a model"]],
])("the compaction %j is described by %j", (entry, phrases) => {
	expect(describeCompaction(entry, ENTRIES)).toEqual(phrases);
});
