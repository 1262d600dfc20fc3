import { once } from "node:events";
import {
	appendFileSync,
	chmodSync,
	copyFileSync,
	existsSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	truncateSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { PiError } from "../../src/errors.js";
import { batchJournalPath } from "../../src/log/batch-journal.js";
import { decodeLine } from "../../src/log/codec.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { closing, fileWith, HEADER, pathOf, startProcess, tempDir, textOf, userMessage } from "./support.js";

function recording(): { errors: PiError[]; onWriteError: (error: PiError) => void } {
	const errors: PiError[] = [];
	return { errors, onWriteError: (error) => void errors.push(error) };
}

/** The entries in the file, read without the log. */
function onDisk(log: SessionLog): unknown[] {
	return textOf(log).split("\n").filter(Boolean).map(decodeLine);
}

test("a session continues in memory while its directory is unusable, reports it once, and writes all entries afterwards", async () => {
	const root = tempDir();
	const dir = join(root, "sessions");
	writeFileSync(dir, "in the way");
	const { errors, onWriteError } = recording();
	const log = closing(SessionLog.create({ dir, cwd: "/x", onWriteError }));
	expect([log.append({ type: "a" }), log.append({ type: "b" })]).toEqual([1, 2]);
	await log.flush();
	expect(log.entries.map(({ type }) => type)).toEqual(["session", "a", "b"]);
	expect(errors.map(({ code }) => code)).toEqual(["log_write_failed"]);
	expect(errors[0]?.message).toContain(pathOf(log));

	unlinkSync(dir);
	expect(log.append({ type: "c" })).toBe(3);
	expect(onDisk(log)).toEqual(log.entries);
	expect(isLocked(pathOf(log))).toBe(true);

	rmSync(dir, { recursive: true });
	writeFileSync(dir, "in the way again");
	log.append({ type: "d" });
	expect(errors.length).toBe(2);
	unlinkSync(dir);
	await log.flush();
	expect(onDisk(log)).toEqual(log.entries);
});

test("a log says when it has been saved again, once everything is in the file", () => {
	const dir = join(tempDir(), "sessions");
	writeFileSync(dir, "");
	const { errors, onWriteError } = recording();
	const log = closing(SessionLog.create({ dir, cwd: "/x", onWriteError }));
	const saved: number[] = [];
	log.onSaved = () => void saved.push(onDisk(log).length);
	log.append({ type: "a" });
	log.append({ type: "b" });
	expect([errors.length, saved]).toEqual([1, []]);
	unlinkSync(dir);
	expect(log.save()).toBe(null);
	expect(saved).toEqual([3]);
});

test("a session whose directory was unusable is written on close", () => {
	const dir = join(tempDir(), "sessions");
	writeFileSync(dir, "");
	const log = SessionLog.create({ dir, cwd: "/x" });
	log.append({ type: "a" });
	unlinkSync(dir);
	log.close();
	expect(onDisk(log)).toEqual(log.entries);
});

test("a branch contains entries that are not written yet", () => {
	const root = tempDir();
	const dir = join(root, "sessions");
	writeFileSync(dir, "");
	const log = SessionLog.create({ dir, cwd: "/x" });
	log.appendAll([{ type: "a" }, { type: "b" }]);
	const branch = closing(log.branchTo(2, { dir: join(root, "elsewhere") }));
	expect(onDisk(branch)).toEqual([branch.header, log.entry(1)]);
});

test.skipIf(!existsSync("/usr/bin/prlimit"))(
	"a partial write to a full disk is completed when there is space again, and indices stay correct",
	async () => {
		const path = fileWith(HEADER);
		const { nextLine } = startProcess(
			`
			import { execFileSync } from "node:child_process";
			import { readFileSync } from "node:fs";
			const { SessionLog } = await load("session-log.ts");
			const log = SessionLog.open(${JSON.stringify(path)}, { onWriteError: (error) => console.log(error.code) });
			for (let i = 1; i <= 12; i++) log.append({ type: "entry", timestamp: "t", i, text: "x".repeat(1000) });
			log.appendAll([{ type: "pair" }, { type: "pair" }]);
			console.log(String(readFileSync(${JSON.stringify(path)}).length));
			execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited:unlimited"]);
			log.append({ type: "last", timestamp: "t" });
			log.close();
			console.log(String(log.length));
			`,
			["bash", "-c", 'ulimit -S -f 8; exec "$@"', "limited"],
		);
		expect([await nextLine(), await nextLine(), await nextLine()]).toEqual(["log_write_failed", "8192", "16"]);
		expect(await nextLine()).toBeUndefined();
		const log = closing(SessionLog.open(path));
		expect(log.entries.map(({ type }) => type)).toEqual([
			"session",
			...Array(12).fill("entry"),
			"pair",
			"pair",
			"last",
		]);
		expect(log.slice(1, 13).map((entry) => ("i" in entry ? entry.i : null))).toEqual([
			1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		]);
	},
);

test("a session file deleted while in use is written again byte for byte", () => {
	const { errors, onWriteError } = recording();
	const path = fileWith(`${HEADER}damaged\n\n{ "type":"a" }\n`);
	const log = closing(SessionLog.open(path, { onWriteError }));
	const before = readFileSync(path, "utf8");
	unlinkSync(path);
	expect(log.append({ type: "b", timestamp: 1 })).toBe(3);
	expect(readFileSync(path, "utf8")).toBe(`${before}{"type":"b","timestamp":1}\n`);
	expect(errors.map(({ message }) => message)).toEqual([`The session file ${path} was deleted while in use`]);
	log.append({ type: "c" });
	expect(errors.length).toBe(1);
	rmSync(dirname(path), { recursive: true });
	log.append({ type: "d" });
	expect(onDisk(log)).toEqual(log.entries);
	expect(isLocked(path)).toBe(true);
});

test("a file that replaced the session file is renamed, not lost", () => {
	const { errors, onWriteError } = recording();
	const path = fileWith(`${HEADER}{"type":"a"}\n`);
	const log = closing(SessionLog.open(path, { onWriteError }));
	const before = readFileSync(path, "utf8");
	renameSync(path, `${path}.moved`);
	writeFileSync(path, "someone else's");
	log.append({ type: "b", timestamp: 1 });
	expect(readFileSync(path, "utf8")).toBe(`${before}{"type":"b","timestamp":1}\n`);
	expect(errors.map(({ message }) => message)).toEqual([`The session file ${path} was replaced while in use`]);
	const aside = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.replaced-`));
	expect(aside.map((name) => readFileSync(join(dirname(path), name), "utf8"))).toEqual(["someone else's"]);
});

test("entries already read are restored to a truncated file; the others keep their indices", () => {
	const { errors, onWriteError } = recording();
	const path = fileWith(`${HEADER}{"type":"a"}\n{"type":"b"}\n{"type":"c"}\n`);
	const log = closing(SessionLog.open(path, { onWriteError }));
	log.entry(2);
	truncateSync(path, HEADER.length + 16);
	expect(log.append({ type: "d", timestamp: 1 })).toBe(4);
	expect(errors.map(({ message }) => message)).toEqual([`The session file ${path} was truncated while in use`]);
	const types = ["session", "a", "b", "opaque", "d"];
	expect(log.entries.map(({ type }) => type)).toEqual(types);
	log.close();
	expect(closing(SessionLog.open(path)).entries.map(({ type }) => type)).toEqual(types);
});

test("lines that another program appends are kept and counted", () => {
	const { errors, onWriteError } = recording();
	const path = fileWith(HEADER);
	const log = closing(SessionLog.open(path, { onWriteError }));
	expect(log.append({ type: "a", timestamp: 1 })).toBe(1);
	appendFileSync(path, '{"type":"theirs"}\n{"type":"half"');
	expect(log.append({ type: "b", timestamp: 1 })).toBe(4);
	expect(log.entries.map(({ type }) => type)).toEqual(["session", "a", "theirs", "opaque", "b"]);
	expect(onDisk(log)).toEqual(log.entries);
	expect(errors.length).toBe(1);
});

test("a batch of entries is complete or absent wherever the writing process died", () => {
	const batch = '{"type":"p","n":1}\n{"type":"p","n":2}\n';
	const start = `${HEADER}{"type":"a"}\n`;
	const journal = `${JSON.stringify({ offset: start.length, bytes: batch.length })}\n${batch}`;
	for (let size = 0; size <= journal.length; size++) {
		const path = fileWith(start);
		writeFileSync(batchJournalPath(path), journal.slice(0, size));
		const log = SessionLog.open(path);
		expect(log.length).toBe(2); // the batch is not written before its journal is complete
		log.close();
		expect(readdirSync(dirname(path)).length).toBe(1);
	}
	for (let written = 1; written <= batch.length; written++) {
		const path = fileWith(start + batch.slice(0, written));
		writeFileSync(batchJournalPath(path), journal);
		const log = SessionLog.open(path);
		expect(log.length).toBe(4);
		log.close();
		expect(readFileSync(path, "utf8")).toBe(start + batch);
		expect(readdirSync(dirname(path)).length).toBe(1);
	}
});

test("a journal that does not match the end of the file changes nothing", () => {
	const path = fileWith(`${HEADER}{"type":"a"}\n{"type":"b"`);
	const before = readFileSync(path, "utf8");
	writeFileSync(batchJournalPath(path), `${JSON.stringify({ offset: HEADER.length, bytes: 40 })}\n${"z".repeat(40)}`);
	SessionLog.open(path).close();
	expect(readFileSync(path, "utf8")).toBe(before);
	expect(existsSync(batchJournalPath(path))).toBe(false);
});

test("a process killed at any time leaves every acknowledged entry and a session that opens", async () => {
	for (const batch of [1, 3]) {
		const dir = tempDir();
		const acknowledgements = join(tempDir(), "indices");
		const { child, nextLine } = startProcess(`
			import { openSync, writeSync } from "node:fs";
			const { SessionLog } = await load("session-log.ts");
			const log = SessionLog.create({ dir: ${JSON.stringify(dir)}, cwd: "/x" });
			const file = openSync(${JSON.stringify(acknowledgements)}, "a");
			for (let n = 0; ; n++) {
				const indices = log.appendAll(Array.from({ length: ${batch} }, () => ({ type: "n", n, text: "x".repeat(n % 5000) })));
				writeSync(file, indices.at(-1) + "\\n");
				if (n === 200) console.log("started");
			}
		`);
		await nextLine();
		const exited = once(child, "exit");
		child.kill("SIGKILL");
		await exited;
		const acknowledged = Number(readFileSync(acknowledgements, "utf8").trimEnd().split("\n").at(-1));
		expect(acknowledged).toBeGreaterThanOrEqual(200);
		const [name] = readdirSync(dir).filter((file) => file.endsWith(".jsonl"));
		const path = join(dir, name ?? "");
		const copy = `${path}.copy`;
		copyFileSync(path, copy);
		const log = closing(SessionLog.open(path));
		// A truncated last line was not acknowledged; a batch is completed from its journal.
		const isTruncated =
			batch === 1 && log.entries.at(-1)?.type === "opaque" && !readFileSync(copy, "utf8").endsWith("\n");
		const saved = isTruncated ? log.entries.slice(0, -1) : log.entries;
		expect(saved.length).toBeGreaterThan(acknowledged);
		expect((saved.length - 1) % batch).toBe(0);
		expect(saved.every(({ type }) => type !== "opaque")).toBe(true);
		expect(readFileSync(path).subarray(0, readFileSync(copy).length).equals(readFileSync(copy))).toBe(true);
		expect(log.append(userMessage("on"))).toBe(log.length - 1);
	}
});

test.skipIf(process.getuid?.() === 0)(
	"a session without write permission opens, reports the first failed append and is written once permitted",
	() => {
		const { errors, onWriteError } = recording();
		const path = fileWith(HEADER);
		chmodSync(path, 0o400);
		chmodSync(dirname(path), 0o500);
		const log = closing(SessionLog.open(path, { onWriteError }));
		log.append({ type: "a" });
		log.append({ type: "b" });
		expect([log.length, errors.length, readFileSync(path, "utf8")]).toEqual([3, 1, HEADER]);
		chmodSync(path, 0o600);
		log.append({ type: "c" });
		expect(onDisk(log)).toEqual(log.entries);
		chmodSync(dirname(path), 0o700);
	},
);
