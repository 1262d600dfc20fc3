import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import { OpenFile } from "../../src/log/open-file.js";
import { readUsage } from "../../src/log/read-usage.js";
import { usageOf } from "../../src/log/request-usage.js";
import { SessionLog } from "../../src/log/session-log.js";
import { custom, header, result, user } from "../helpers/entries.js";
import { replyAt } from "../helpers/usage.js";
import { closing, fileWith } from "./support.js";

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
