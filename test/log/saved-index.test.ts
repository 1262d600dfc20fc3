import {
	appendFileSync,
	copyFileSync,
	existsSync,
	readFileSync,
	statSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OpenFile } from "../../src/log/open-file.js";
import { savedIndexPath } from "../../src/log/saved-index.js";
import { SessionLog } from "../../src/log/session-log.js";
import { assistantMessage } from "../helpers/entries.js";
import { fileWith, HEADER, userMessage } from "./support.js";

const timestamp = "2026-01-01T00:00:00.000Z";
const reply = (input: number) => {
	const { usage, ...message } = assistantMessage("x".repeat(20_000));
	return `${JSON.stringify({ type: "message", timestamp, message: { ...message, usage: { ...usage, input } } })}\n`;
};
/** A session of 5 MB. */
const LARGE = `${HEADER}${reply(2).repeat(250)}`;

/** Bytes that opening session files read to find their lines. */
let read = 0;

beforeEach(() => {
	const readSome = OpenFile.prototype.readSome;
	vi.spyOn(OpenFile.prototype, "readSome").mockImplementation(function (this: OpenFile, bytes, offset) {
		const count = readSome.call(this, bytes, offset);
		read += count;
		return count;
	});
});

afterEach(() => {
	vi.restoreAllMocks();
});

/** Opens and closes a session, after `use`. @returns what it read to find its lines, in bytes, and what it says */
function opened(path: string, use: (log: SessionLog) => void = () => {}, options: { readOnly?: boolean } = {}) {
	read = 0;
	const log = SessionLog.open(path, options);
	const bytes = read;
	use(log);
	const facts = { types: log.countTypes(), lines: log.length, last: log.entry(log.length - 1) };
	log.close();
	return { isRead: bytes > 1_000_000, ...facts };
}

function count(log: SessionLog) {
	for (;;) {
		const spent = log.countUsage();
		if (spent) return spent.tokens.input;
	}
}

test("a large session that was closed opens without being read again, and says the same", () => {
	const path = fileWith(LARGE);
	const first = opened(path, (log) => log.append(userMessage("last words")));
	expect(first).toMatchObject({ isRead: true, lines: 252, last: { message: { content: "last words" } } });
	expect(opened(path)).toEqual({ ...first, isRead: false });
	const appended = opened(path, (log) => log.append(userMessage("more")));
	expect(appended).toMatchObject({ isRead: false, lines: 253, last: { message: { content: "more" } } });
	expect(opened(path, () => {}, { readOnly: true })).toEqual(appended);
});

test("what the requests used is counted on from where the last start stopped", () => {
	const path = fileWith(LARGE);
	opened(path, (log) => expect(log.countUsage()).toBeNull());
	opened(path, (log) => expect(count(log)).toBe(500));
	const log = SessionLog.open(path);
	expect(log.countUsage()?.tokens.input).toBe(500);
	const { usage } = assistantMessage("");
	log.append({ type: "message", message: { ...assistantMessage("late"), usage: { ...usage, input: 5 } } });
	expect(log.countUsage()?.tokens.input).toBe(505);
	log.close();
});

test.each<[string, (path: string) => void]>([
	["lines were appended", (path) => appendFileSync(path, '{"type":"note"}\n')],
	[
		"a line was edited and the time of the change hidden",
		(path) => {
			const { atime, mtime } = statSync(path);
			writeFileSync(path, readFileSync(path, "utf8").replace('"type":"message"', '"type":"massage"'));
			utimesSync(path, atime, mtime);
		},
	],
	["it was truncated", (path) => truncateSync(path, 4_500_000)],
	[
		"it was replaced by a copy",
		(path) => {
			const copy = `${path}.copy`;
			copyFileSync(path, copy);
			writeFileSync(path, "");
			copyFileSync(copy, path);
		},
	],
	["the index was cut off", (path) => truncateSync(savedIndexPath(path), 200)],
	[
		"the index is damaged",
		(path) => {
			const bytes = readFileSync(savedIndexPath(path));
			bytes[bytes.length - 100] = 7;
			writeFileSync(savedIndexPath(path), bytes);
		},
	],
	["the index is something else", (path) => writeFileSync(savedIndexPath(path), "[]")],
	["the index is empty", (path) => writeFileSync(savedIndexPath(path), "")],
])("the file is read again if %s", (_, change) => {
	const path = fileWith(LARGE);
	opened(path);
	change(path);
	const copy = fileWith(readFileSync(path));
	expect(opened(path)).toEqual(opened(copy));
	expect(opened(path)).toEqual({ ...opened(copy), isRead: false });
});

test("lines of another program that pi has not seen are not missed by the next start", () => {
	const path = fileWith(LARGE);
	opened(path, () => appendFileSync(path, '{"type":"note"}\n'));
	expect(opened(path)).toMatchObject({ isRead: true, lines: 252, last: { type: "note" } });
});

test("a last line without line end is continued on its own line", () => {
	const path = fileWith(`${LARGE}{"type":"note"}`);
	opened(path);
	const { isRead, lines } = opened(path, (log) => log.append(userMessage("more")));
	expect([isRead, lines]).toEqual([false, 253]);
	expect(readFileSync(path, "utf8").split("\n").slice(-3, -1)).toEqual([
		'{"type":"note"}',
		JSON.stringify(userMessage("more")),
	]);
});

test("small sessions and read-only starts keep no index", () => {
	const [small, large] = [fileWith(`${HEADER}${reply(2)}`), fileWith(LARGE)];
	opened(small, (log) => log.append(userMessage("x")));
	opened(large, () => {}, { readOnly: true });
	expect([small, large].map((path) => existsSync(savedIndexPath(path)))).toEqual([false, false]);
});

test("only the user can read the index, and one that is still right is not written again", () => {
	const path = fileWith(LARGE);
	opened(path);
	const { mode, ino } = statSync(savedIndexPath(path));
	expect(mode & 0o777).toBe(0o600);
	opened(path);
	expect(statSync(savedIndexPath(path)).ino).toBe(ino);
});
