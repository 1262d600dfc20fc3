import { appendFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLine, encodeEntry } from "../../src/log/codec.js";
import { OpenFile } from "../../src/log/open-file.js";
import { readUsage } from "../../src/log/read-usage.js";
import { usageOf } from "../../src/log/request-usage.js";
import { SessionLog } from "../../src/log/session-log.js";
import { custom, header, result, user } from "../helpers/entries.js";
import { replyAt } from "../helpers/usage.js";
import { closing, fileOf, fileWith } from "./support.js";

const AT = "2026-03-01T10:00:00.000Z";
const USAGE = {
	input: 3,
	output: 2,
	cacheRead: 1,
	cacheWrite: 0,
	totalTokens: 6,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.5 },
};

function read(path: string, from = 0) {
	const file = OpenFile.open(path, false);
	return readUsage(file, from, async () => {}).finally(() => file.close());
}

test("finds the usage that the log finds, in lines of every length, order of fields and type", async () => {
	const large = "x".repeat(700_000);
	const foreign = { message: replyAt(AT, { input: 7 }).message, timestamp: AT, type: "message" };
	const lines = [
		encodeEntry(header()),
		encodeEntry(replyAt(AT, { text: large, input: 1 })),
		encodeEntry(user(large)),
		encodeEntry(result("a", large)),
		encodeEntry(replyAt(AT, { text: large, input: 2 })),
		"\n",
		"not json\n",
		encodeEntry(custom("note", { text: large })),
		`  ${encodeEntry(replyAt(AT, { input: 3 }))}`,
		`${JSON.stringify(foreign)}\n`,
		encodeEntry({
			type: "request_usage",
			timestamp: AT,
			purpose: "compaction",
			provider: "p",
			modelId: "m",
			usage: USAGE,
		}),
		encodeEntry(replyAt(AT, { text: `${large}${large}${large}`, input: 4, subscription: true })),
	];
	const path = fileWith(lines.join(""));
	const log = closing(SessionLog.open(path, { readOnly: true }));
	const expected = log.entries.flatMap((entry) => usageOf(entry) ?? []);
	const found = await read(path);
	expect(found).toEqual({ requests: expected, end: Buffer.byteLength(lines.join("")), hasOpenEnd: false });
	expect(found.requests.map(({ input, cost }) => [input, cost])).toEqual([
		[1, 0],
		[2, 0],
		[3, 0],
		[7, 0],
		[3, 0.5],
		[4, null],
	]);
});

test("a reply without line end counts, and is read again with what follows", async () => {
	const start = encodeEntry(header());
	const path = fileWith(start + encodeEntry(replyAt(AT)).trimEnd());
	expect(await read(path)).toMatchObject({ requests: [{ input: 100 }], end: start.length, hasOpenEnd: true });
	appendFileSync(path, `\n${encodeEntry(replyAt(AT, { input: 5 }))}`);
	expect(await read(path, start.length)).toMatchObject({ requests: [{ input: 100 }, { input: 5 }], hasOpenEnd: false });
});

test("the usage does not depend on the number of bytes that each read returns", async () => {
	const usage = {
		type: "request_usage",
		timestamp: AT,
		purpose: "compaction",
		provider: "p",
		modelId: "m",
		usage: USAGE,
	};
	const line = fc.constantFrom(
		encodeEntry(replyAt(AT, { input: 1 })),
		encodeEntry(replyAt(AT, { input: 2, text: "é".repeat(150) })),
		` ${encodeEntry(replyAt(AT, { input: 3 }))}`,
		encodeEntry(usage),
		encodeEntry(user("x".repeat(200))),
		encodeEntry(custom("note")),
		encodeEntry(custom("note", { text: encodeEntry(replyAt(AT)) })),
		"\n",
	);
	await fc.assert(
		fc.asyncProperty(
			fc.array(line, { maxLength: 6 }),
			fc.boolean(),
			fc.integer({ min: 1, max: 400 }),
			async (lines, open, most) => {
				const text = open ? lines.join("").replace(/\n$/, "") : lines.join("");
				let chunks = 0;
				const found = await readUsage(fileOf(text, most), 0, async () => void chunks++);
				const expected = lines.map((item) => usageOf(decodeLine(item)));
				const hasOpenEnd = open && (expected.at(-1) ?? null) !== null;
				expect(found).toEqual({
					requests: expected.flatMap((item) => item ?? []),
					end: Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)),
					hasOpenEnd,
				});
				expect(chunks).toBe(Math.ceil(Buffer.byteLength(text) / most));
			},
		),
		{ numRuns: 60 },
	);
});

test("an unfinished line that records no usage is not an open end", async () => {
	for (const text of ["", encodeEntry(user("x".repeat(200))).trimEnd(), encodeEntry(custom("note")).trimEnd(), "{"]) {
		const start = encodeEntry(replyAt(AT));
		expect(await readUsage(fileOf(`${start}${text}`), 0, async () => {})).toMatchObject({
			...{ requests: [{ input: 100 }], end: start.length, hasOpenEnd: false },
		});
	}
});

test("an object within a line is not mistaken for a line, wherever a read ends", async () => {
	const line = `${JSON.stringify({ extra: { type: "note", text: "x".repeat(200) }, ...replyAt(AT) })}\n`;
	const start = line.indexOf('{"type":"note"');
	for (const most of [start, start + 14, line.length]) {
		expect((await readUsage(fileOf(line, most), 0, async () => {})).requests).toHaveLength(1);
	}
});
