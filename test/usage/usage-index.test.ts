import { appendFileSync, copyFileSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { OpenFile } from "../../src/log/open-file.js";
import { SessionLog } from "../../src/log/session-log.js";
import { UsageIndex } from "../../src/usage/usage-index.js";
import { user } from "../helpers/entries.js";
import { tempDir } from "../helpers/temp.js";
import { replyAt } from "../helpers/usage.js";

const AT = "2026-03-01T10:00:00.000Z";
const LATER = "2026-03-02T10:00:00.000Z";

function place() {
	const dir = tempDir();
	const file = join(tempDir(), "cache", "usage.json");
	return {
		dir,
		file,
		write(...entries: SessionEntry[]) {
			const log = SessionLog.create({ dir, cwd: "/project" });
			log.appendAll(entries);
			log.close();
			return log;
		},
		/** The tokens of all requests, as a process finds them that uses the stored index. */
		async read(): Promise<number[]> {
			const index = new UsageIndex(file, () => [dir]);
			await index.refresh();
			await index.save();
			return [...index.requests()].map(({ usage }) => usage.input);
		},
	};
}

function pathOf({ path }: SessionLog): string {
	if (path === null) throw new Error("The session has no file");
	return path;
}

test("a second process reads no unchanged file, and of a longer one only what is new", async () => {
	const { dir, file, write, read } = place();
	const log = write(user("a".repeat(10_000)), replyAt(AT, { input: 1 }));
	write(user("b"), replyAt(LATER, { input: 2 }));
	expect((await read()).sort()).toEqual([1, 2]);
	const reads: number[] = [];
	const open = vi.spyOn(OpenFile, "open");
	expect((await read()).sort()).toEqual([1, 2]);
	expect(open).not.toHaveBeenCalled();
	open.mockRestore();
	const { size } = statSync(pathOf(log));
	const readSome = vi.spyOn(OpenFile.prototype, "readSome").mockImplementation(function (
		this: OpenFile,
		bytes,
		offset,
	) {
		reads.push(offset);
		readSome.mockRestore();
		return this.readSome(bytes, offset);
	});
	appendFileSync(pathOf(log), encodeEntry(replyAt(LATER, { input: 3 })));
	expect((await read()).sort()).toEqual([1, 2, 3]);
	expect(reads).toEqual([size - 4096]);
	const index = new UsageIndex(file, () => [dir]);
	await index.refresh();
	expect([...index.requests()].map(({ session }) => session.cwd)).toEqual(["/project", "/project", "/project"]);
});

test("the files decide: a rewritten, replaced, shortened or deleted session is not remembered", async () => {
	const { write, read } = place();
	const [rewritten, touched, shortened, deleted] = [1, 2, 3, 4].map((input) =>
		pathOf(write(user("x".repeat(100)), replyAt(AT, { input }), replyAt(LATER, { input: input * 10 }))),
	) as [string, string, string, string];
	expect((await read()).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 10, 20, 30, 40]);
	const text = readFileSync(rewritten, "utf8");
	writeFileSync(rewritten, `${text.replace('"input":10', '"input":11')}${encodeEntry(replyAt(LATER, { input: 100 }))}`);
	const { mtime, atime } = statSync(touched);
	writeFileSync(touched, readFileSync(touched, "utf8").replace('"input":20', '"input":21'));
	utimesSync(touched, atime, new Date(mtime.getTime() + 5000));
	writeFileSync(shortened, readFileSync(shortened, "utf8").split("\n").slice(0, 3).join("\n"));
	rmSync(deleted);
	expect((await read()).sort((a, b) => a - b)).toEqual([1, 2, 3, 11, 21, 100]);
});

test.each([
	["missing", null],
	["not JSON", "{"],
	["of another version", '{"version":9,"models":[],"files":{}}'],
	["malformed", '{"version":1,"models":["a"],"files":{"/x.jsonl":{"size":1}}}'],
])("an index that is %s is written again", async (_, text) => {
	const { file, write, read } = place();
	write(user("a"), replyAt(AT, { input: 1 }));
	await read();
	const good = readFileSync(file, "utf8");
	if (text === null) rmSync(file);
	else writeFileSync(file, text);
	expect(await read()).toEqual([1]);
	expect(readFileSync(file, "utf8")).toBe(good);
});

test("an index that cannot be written changes nothing", async () => {
	const { dir, write } = place();
	write(user("a"), replyAt(AT, { input: 1 }));
	const blocked = join(tempDir(), "file");
	writeFileSync(blocked, "");
	const index = new UsageIndex(join(blocked, "usage.json"), () => [dir]);
	await index.refresh();
	await index.save();
	expect([...index.requests()].length).toBe(1);
});

test("a reply in branches and copies of a session counts once, for the first session", async () => {
	const { dir, write, file } = place();
	const log = write(user("a"), replyAt(AT, { input: 1 }), replyAt(LATER, { input: 2 }));
	const source = SessionLog.open(pathOf(log));
	// Sessions of the same millisecond have no order.
	const createdBy = Date.now();
	await vi.waitUntil(() => Date.now() > createdBy, { interval: 1 });
	const branch = source.branchTo(3, { dir });
	branch.append(replyAt(LATER, { input: 3 }));
	branch.close();
	source.branchTo("all", { dir }).close();
	source.close();
	copyFileSync(pathOf(log), join(dir, "backup.jsonl"));
	const read = async () => {
		const index = new UsageIndex(file, () => [dir]);
		await index.refresh();
		return [...index.requests()].map(({ session, usage }) => [usage.input, session.id]);
	};
	expect(await read()).toEqual([
		[1, log.id],
		[2, log.id],
		[3, branch.id],
	]);
	// Without the original, its copies count.
	rmSync(pathOf(log));
	rmSync(join(dir, "backup.jsonl"));
	expect((await read()).map(([input]) => input).sort()).toEqual([1, 2, 3]);
});

test("a reply without usage is still one when it is read from the stored index", async () => {
	const { dir, file, write } = place();
	write(user("a"), replyAt(AT, { input: 0, output: 0 }), replyAt(LATER, { input: 0, output: 0, failed: true }));
	const read = async () => {
		const index = new UsageIndex(file, () => [dir]);
		await index.refresh();
		await index.save();
		return [...index.requests()].map(({ usage }) => usage.isUnreported);
	};
	expect(await read()).toEqual([true, undefined]);
	expect(await read()).toEqual([true, undefined]);
});
