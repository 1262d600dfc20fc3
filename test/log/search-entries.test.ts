import { expect, test } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { searchEntries } from "../../src/log/search.js";
import { assistant, assistantMessage, custom, result, user } from "../helpers/entries.js";
import { fileWith, HEADER } from "./support.js";

function fileOf(...lines: (SessionEntry | string)[]): string {
	return fileWith(HEADER + lines.map((line) => (typeof line === "string" ? `${line}\n` : encodeEntry(line))).join(""));
}

async function found(path: string, text: string): Promise<[entryIndex: number, role: string, marked: string][]> {
	const matches = await searchEntries(path, text);
	return matches.map(({ entryIndex, role, excerpt, from, to }) => [entryIndex, role, excerpt.slice(from, to)]);
}

test("each entry that contains the text is found once, with its index, role and the match", async () => {
	const path = fileOf(
		user("a Needle, a needle"),
		"",
		"damaged needle {",
		assistant("", [{ id: "c1", name: "bash", arguments: { command: "grep NEEDLE" } }]),
		result("c1", "needle\n"),
		custom("note", { deep: [{ text: "the needle" }] }),
	);
	expect(await found(path, "needle")).toEqual([
		[1, "user", "Needle"],
		[3, "assistant", "NEEDLE"],
		[4, "toolResult", "needle"],
		[5, "note", "needle"],
	]);
});

test("models, directories, ids, image data and recorded requests are not searched", async () => {
	const image = { type: "image" as const, data: "bmVlZGxl", mimeType: "image/png" };
	const shape = [{ message: { role: "user" as const, content: "needle", timestamp: 1 }, entryIndex: null }];
	const path = fileOf(
		user([image]),
		{ ...assistant("hay"), context: { digest: "needle", messages: 1, tokens: 1, shape } },
		{ ...assistant("hay"), message: { ...assistantMessage("hay"), model: "needle", provider: "needle" } },
		{ type: "model_change", timestamp: "2026-01-01T00:00:00.000Z", provider: "needle", modelId: "needle" },
	);
	for (const text of ["needle", "bmVlZGxl", "/work"]) expect(await found(path, text)).toEqual([]);
});

test("an excerpt is one line, and its marks fit also when blanks before the match are collapsed", async () => {
	const path = fileOf(user(`${"x".repeat(60)}\n\n\t  "half  cents" ${"y".repeat(300)}`));
	const [match] = await searchEntries(path, '"half  cents"');
	expect(match?.excerpt).toBe(`…${"x".repeat(35)} "half cents" ${"y".repeat(119)}…`);
	expect(match?.excerpt.slice(match.from, match.to)).toBe('"half cents"');
});

test("matches across chunk borders have the right index", async () => {
	const long = "z".repeat(700_000);
	const path = fileOf(user(long), user(`${long} needle`), user("hay"), user(`${long}${long} needle`), user("needle"));
	expect((await found(path, "needle")).map(([index]) => index)).toEqual([2, 4, 5]);
	expect(await found(`${path}.none`, "needle")).toEqual([]);
});
