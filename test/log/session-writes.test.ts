import {
	appendFileSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { describeError, type PiError } from "../../src/errors.js";
import { batchJournalPath, completeBatch, writeBatchJournal } from "../../src/log/batch-journal.js";
import { OpenFile } from "../../src/log/open-file.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { closing, fileWith, HEADER, pathOf, tempDir, textOf } from "./support.js";

const entry = (n: number) => ({ type: "e", timestamp: "t", n });
const lineOf = (n: number) => `{"type":"e","timestamp":"t","n":${n}}\n`;

/** An open session with these lines after its header, and the errors that it reports. */
function opened(lines = "") {
	const errors: PiError[] = [];
	const path = fileWith(HEADER + lines);
	const log = closing(SessionLog.open(path, { onWriteError: (error) => void errors.push(error) }));
	return { path, log, errors, described: () => errors.map(describeError) };
}

test.each<[string, (path: string) => void]>([
	["was deleted", (path) => rmSync(path)],
	["was truncated", (path) => truncateSync(path, 0)],
	[
		"was replaced",
		(path) => {
			renameSync(path, `${path}.moved`);
			writeFileSync(path, readFileSync(`${path}.moved`));
		},
	],
])(
	"a file that %s is written again, with a report of one line, and later appends report nothing",
	async (incident, hurt) => {
		const { path, log, described } = opened(lineOf(1));
		log.entries;
		hurt(path);
		log.append(entry(2));
		expect(described()).toEqual([
			`The session file ${path} ${incident} while in use · pi wrote the complete session to this path again`,
		]);
		log.append(entry(3));
		log.appendAll([entry(4), entry(5)]);
		await log.flush();
		expect(textOf(log)).toBe(HEADER + [1, 2, 3, 4, 5].map(lineOf).join(""));
		expect([described().length, isLocked(path), statSync(path).mode & 0o777]).toEqual([1, true, 0o600]);
	},
);

test("a file truncated within a line is written again with that line", () => {
	const { path, log } = opened(lineOf(1) + lineOf(2));
	log.entries;
	truncateSync(path, HEADER.length + lineOf(1).length - 1);
	log.append(entry(3));
	expect(textOf(log)).toBe(HEADER + [1, 2, 3].map(lineOf).join(""));
});

test("a file cut exactly between lines keeps the lines before the cut byte for byte", () => {
	const odd = '{ "type":"odd" }\n';
	const { path, log } = opened(odd + lineOf(1));
	log.entry(2);
	truncateSync(path, HEADER.length + odd.length + 1);
	log.append(entry(2));
	expect(textOf(log)).toBe(HEADER + odd + lineOf(1) + lineOf(2));
});

test("lines of another program are reported once per change", async () => {
	const { path, log, described } = opened();
	appendFileSync(path, lineOf(1));
	log.append(entry(2));
	expect(described()).toEqual([
		`Another program wrote to the session file ${path} · its lines are kept; open a session in only one program at a time`,
	]);
	log.append(entry(3));
	expect(described()).toHaveLength(1);
	appendFileSync(path, lineOf(4).trim());
	log.append(entry(5));
	await log.flush();
	expect(described()).toHaveLength(2);
	expect(textOf(log)).toBe(HEADER + [1, 2, 3, 4, 5].map(lineOf).join(""));
});

test("the line end that a file lacks is written before the first append, once", () => {
	const { log } = opened(lineOf(1).trim());
	log.append(entry(2));
	log.append(entry(3));
	expect(textOf(log)).toBe(HEADER + [1, 2, 3].map(lineOf).join(""));
	const { log: two } = opened(lineOf(1).trim());
	two.appendAll([entry(2), entry(3)]);
	expect(textOf(two)).toBe(HEADER + [1, 2, 3].map(lineOf).join(""));
	expect(two.entries.slice(1)).toEqual([entry(1), entry(2), entry(3)]);
});

test("entries that cannot be written are readable, and are written in order by the next append", () => {
	const { path, log, described } = opened();
	rmSync(path);
	mkdirSync(path);
	writeFileSync(join(path, "in-the-way"), "");
	rmSync(`${path}.lock`, { force: true });
	const aside = () => readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"));
	log.append(entry(1));
	// The directory is set aside like a file that replaced the session.
	expect(aside()).toHaveLength(1);
	expect(described()).toEqual([expect.stringContaining(" was replaced while in use")]);
	expect(log.slice(1)).toEqual([entry(1)]);
	expect(textOf(log)).toBe(HEADER + lineOf(1));
});

test("while nothing can be written, one report is made, and flush and close write what is pending", async () => {
	const dir = join(tempDir(), "sessions");
	writeFileSync(dir, "in the way");
	const errors: PiError[] = [];
	const log = SessionLog.create({ dir, cwd: "/x", onWriteError: (error) => void errors.push(error) });
	log.append(entry(1));
	log.appendAll([entry(2), entry(3)]);
	await log.flush();
	expect(errors.map(describeError)).toEqual([
		expect.stringMatching(
			/^Cannot save the session to .*: .* · the session continues in memory; pi tries to save again with each new entry$/,
		),
	]);
	expect(errors[0]?.cause).toBeInstanceOf(Error);
	expect(log.slice(1)).toEqual([entry(1), entry(2), entry(3)]);
	rmSync(dir);
	await log.flush();
	const complete = `${JSON.stringify(log.header)}\n${[1, 2, 3].map(lineOf).join("")}`;
	expect(textOf(log)).toBe(complete);
	log.close();
	await log.flush();
	log.close();
	expect([textOf(log), errors.length, isLocked(pathOf(log))]).toEqual([complete, 1, false]);
});

test("a batch leaves no journal behind", () => {
	const { path, log } = opened();
	log.appendAll([entry(1), entry(2)]);
	log.append(entry(3));
	expect(readdirSync(dirname(path)).sort()).toEqual([basename(path), `${basename(path)}.lock`]);
	expect(textOf(log)).toBe(HEADER + [1, 2, 3].map(lineOf).join(""));
});

test("a batch is written through a journal; a single line is not", () => {
	const { path, log, errors } = opened();
	mkdirSync(batchJournalPath(path)); // makes each journal fail
	log.append(entry(1));
	expect(errors).toEqual([]);
	log.appendAll([entry(2), entry(3)]);
	expect(errors.map(({ code }) => code)).toEqual(["log_write_failed"]);
	expect(readFileSync(path, "utf8")).toBe(HEADER + lineOf(1));
	expect(log.slice(1)).toEqual([entry(1), entry(2), entry(3)]);
	rmSync(batchJournalPath(path), { recursive: true });
	log.append(entry(4));
	expect(textOf(log)).toBe(HEADER + [1, 2, 3, 4].map(lineOf).join(""));
});

test("a journal is private, and completes exactly the write that it describes", () => {
	const path = fileWith("start");
	const complete = (content: string) => {
		writeFileSync(path, content);
		const file = OpenFile.open(path, true);
		completeBatch(path, file);
		file.close();
		return [readFileSync(path, "utf8"), existsSync(batchJournalPath(path))];
	};
	const journal = () => writeBatchJournal(path, 5, Buffer.from("one\ntwo\n"));
	journal();
	expect(statSync(batchJournalPath(path)).mode & 0o777).toBe(0o600);
	expect(readFileSync(batchJournalPath(path), "utf8")).toBe('{"offset":5,"bytes":8}\none\ntwo\n');
	expect(complete("startone")).toEqual(["startone\ntwo\n", false]);
	journal();
	expect(complete("start")).toEqual(["start", false]);
	journal();
	expect(complete("startone\ntwo\n")).toEqual(["startone\ntwo\n", false]);
	journal();
	expect(complete("startone\ntwo\nmore")).toEqual(["startone\ntwo\nmore", false]);
	journal();
	expect(complete("starttwo")).toEqual(["starttwo", false]);
	for (const malformed of [
		"",
		"no line end",
		"\none\ntwo\n",
		"7\none\ntwo\n",
		'{"bytes":8}\none\ntwo\n',
		'{"offset":5,"bytes":7}\none\ntwo\n',
		'{"offset":"5","bytes":8}\none\ntwo\n',
	]) {
		writeFileSync(batchJournalPath(path), malformed);
		expect(complete("startone"), malformed).toEqual(["startone", false]);
	}
});

test("a journal keeps the complete batch while a part of it is written, also when lines follow", () => {
	const path = fileWith("start");
	const read = () => readFileSync(batchJournalPath(path), "utf8");
	writeBatchJournal(path, 5, Buffer.from("one\ntwo\n"));
	const before = statSync(batchJournalPath(path)).ino;
	writeBatchJournal(path, 7, Buffer.from("e\ntwo\n"));
	expect([read(), statSync(batchJournalPath(path)).ino]).toEqual(['{"offset":5,"bytes":8}\none\ntwo\n', before]);
	writeBatchJournal(path, 7, Buffer.from("e\ntwo\nthree\n"));
	expect(read()).toBe('{"offset":5,"bytes":14}\none\ntwo\nthree\n');
	writeBatchJournal(path, 7, Buffer.from("another\nbatch\n"));
	expect(read()).toBe('{"offset":7,"bytes":14}\nanother\nbatch\n');
});

test("a journal that cannot be read is ignored, and the session opens", () => {
	const path = fileWith(HEADER + lineOf(1).slice(0, 9));
	mkdirSync(batchJournalPath(path));
	const errors: PiError[] = [];
	closing(SessionLog.open(path, { onWriteError: (error) => void errors.push(error) }));
	expect([errors, existsSync(batchJournalPath(path))]).toEqual([[], true]);
});

test("lines of more than one chunk are read and copied unchanged", () => {
	const long = (n: number) => `{"type":"e","timestamp":"t","n":${n},"text":"${"x".repeat(700_000)}"}\n`;
	const text = [1, 2, 3, 4, 5].map(long).join("");
	const { log } = opened(text);
	expect(log.slice(1).map((line) => ("n" in line ? line.n : null))).toEqual([1, 2, 3, 4, 5]);
	const dir = tempDir();
	const branch = closing(log.branchTo("all", { dir }));
	expect(textOf(branch).slice(JSON.stringify(branch.header).length + 1)).toBe(text);
	const some = closing(log.branchTo(3, { dir }));
	expect(textOf(some).slice(JSON.stringify(some.header).length + 1)).toBe(long(1) + long(2));
	const none = closing(log.branchTo(1, { dir }));
	expect(textOf(none)).toBe(`${JSON.stringify(none.header)}\n`);
});

test("a branch of a file without a last line end ends its last line", () => {
	const { log } = opened(lineOf(1) + lineOf(2).trim());
	const branch = closing(log.branchTo("all", { dir: tempDir() }));
	expect(textOf(branch)).toBe(`${JSON.stringify(branch.header)}\n${lineOf(1)}${lineOf(2)}`);
	const before = closing(log.branchTo(2, { dir: tempDir() }));
	expect(textOf(before)).toBe(`${JSON.stringify(before.header)}\n${lineOf(1)}`);
});
