import { describe, expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import type { BuiltContext } from "../../src/context/context-message.js";
import { EvidenceIndex, EvidenceMeter, evidenceIn, type Needs } from "../../src/context-bench/evidence.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, result, session, user } from "../helpers/entries.js";

describe("what a call uses", () => {
	test("is the lines that it replaces, its paths and long identifiers, each once", () => {
		const args = {
			path: "src/a.ts",
			edits: [{ oldText: "const total = sumOfAllLines(x);\n}\n  return total;", newText: "veryLongIdentifier" }],
		};
		expect(evidenceIn({ type: "toolCall", id: "c", name: "edit", arguments: args })).toEqual([
			"src/a.ts",
			"const total = sumOfAllLines(x);",
			"return total;",
			"sumOfAllLines",
			"veryLongIdentifier",
		]);
	});
});

/** A session in which a file is read, something else is done, and the file is edited. */
const ENTRIES: readonly SessionEntry[] = freezeDeep(
	session(
		user("fix it"),
		assistant("", [{ id: "c1", name: "read", arguments: { path: "src/a.ts" } }]),
		result("c1", "export const total = computeTheTotal(1);"),
		assistant("", [
			{ id: "c2", name: "edit", arguments: { path: "src/a.ts", oldText: "export const total = computeTheTotal(1);" } },
		]),
		result("c2", "done", "edit"),
		assistant("", [{ id: "c3", name: "read", arguments: { path: "src/a.ts" } }]),
		result("c3", "export const total = computeTheTotal(2);"),
		assistant("done"),
	),
);
const EDIT = 4;
const REREAD = 6;

function contextAt(end: number, hide: number | null = null): Promise<BuiltContext> {
	const text = (content: string) => [{ type: "text" as const, text: content }];
	return buildContext(
		ENTRIES.slice(0, end),
		hide === null
			? []
			: [
					{
						hook: "/h.ts",
						transform: async (messages) => ({
							messages: messages.map((item) =>
								item.entryIndex === hide
									? { entryIndex: hide, message: { ...item.message, content: text("[hidden]") } }
									: item,
							),
						}),
					},
				],
	);
}

async function judge(reply: number, hide: number | null) {
	const [index, needs]: [EvidenceIndex, Needs] = [new EvidenceIndex(ENTRIES), new Map()];
	new EvidenceMeter(index, needs, true).note(reply, await contextAt(reply));
	const meter = new EvidenceMeter(index, needs, false);
	meter.note(reply, await contextAt(reply, hide));
	return meter.evidence;
}

describe("evidence", () => {
	test("is complete if the request is the one without a strategy", async () => {
		expect(await judge(EDIT, null)).toEqual({ needed: 3, kept: 3, rereads: 0, losses: [] });
	});

	test("names what the model used and what a strategy had hidden, with the entries that have it", async () => {
		expect(await judge(EDIT, 3)).toEqual({
			...{ needed: 3, kept: 1, rereads: 0 },
			losses: [
				{
					...{ reply: EDIT, tool: "edit", needed: 3, entries: [3] },
					missing: ["export const total = computeTheTotal(1);", "computeTheTotal"],
				},
			],
		});
	});

	test("counts calls that read again what a strategy had hidden", async () => {
		expect((await judge(REREAD, 3)).rereads).toBe(1);
		expect((await judge(REREAD, null)).rereads).toBe(0);
	});
});
