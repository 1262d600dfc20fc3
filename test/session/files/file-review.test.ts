import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FileReview, ReviewedFile } from "../../../src/commands/review.js";
import { text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempDir } from "../../helpers/temp.js";

const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join("");

async function start(files: Record<string, string> = { "a.txt": TEN }): Promise<TestSession> {
	return startSession({ cwd: realpathSync(tempDir("pi-review-")), files });
}

async function run({ session, provider }: TestSession, ...calls: [name: string, args: Record<string, unknown>][]) {
	provider.reply(...calls.map(([name, args]) => ({ content: [toolCall(name, args)] })), "done");
	await session.prompt("go");
}

const write = (path: string, content: string): [string, Record<string, unknown>] => ["write", { path, content }];
const read = ({ cwd }: TestSession, name: string) => readFileSync(join(cwd, name), "utf8");

async function onlyFile(review: FileReview, scope: "turn" | "session" = "session"): Promise<ReviewedFile> {
	const { files } = await review.read(scope);
	expect(files).toHaveLength(1);
	return files[0] as ReviewedFile;
}

const changed = TEN.replace("line 2", "two").replace("line 9", "nine");

describe("a review of changed files", () => {
	test("reverts one hunk and leaves the others, and the next request tells the model", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		const file = await onlyFile(review);
		expect(file.hunks).toHaveLength(2);
		const outcome = await review.decide(file, "revert", file.hunks[0]);
		expect(read(started, "a.txt")).toBe(TEN.replace("line 9", "nine"));
		expect(outcome).toMatchObject({ file: { hunks: [{ newStart: 8 }], isShared: false, problem: null } });
		review.end();
		started.provider.reply("ok");
		await started.session.prompt("next");
		expect(JSON.stringify(started.provider.requests.at(-1)?.messages)).toContain(
			`reverted some: ${join(started.cwd, "a.txt")} (line 2). Read these files`,
		);
	});

	test("lists a file that an undo left because the user had changed it, too", async () => {
		const cwd = realpathSync(tempDir("pi-review-"));
		const select = async (_: string, options: readonly unknown[]) => options[0] as never;
		const started = await startSession({ cwd, files: { "a.txt": TEN }, ui: { select } });
		await run(started, write("a.txt", changed), write("b.txt", "new\n"));
		writeFileSync(join(cwd, "a.txt"), `${changed}mine\n`);
		await started.session.prompt("/undo");
		expect([read(started, "a.txt"), existsSync(join(cwd, "b.txt"))]).toEqual([`${changed}mine\n`, false]);
		for (const scope of ["session", "turn"] as const) {
			const file = await onlyFile(started.session.reviewFiles(), scope);
			expect(file.hunks.map(({ newStart }) => newStart)).toEqual([1, 8]);
		}
		expect(await started.session.prompt("/undo")).toMatchObject({ status: "There are no changes to undo" });
	});

	test("remembers what was kept, in later reviews of the same changes too", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		const file = await onlyFile(review);
		expect(await review.decide(file, "keep", file.hunks[1])).toMatchObject({ file: { hunks: [{ newStart: 1 }] } });
		expect((await onlyFile(started.session.reviewFiles())).hunks).toHaveLength(1);
		expect((await onlyFile(started.session.reviewFiles(), "turn")).hunks).toHaveLength(2);
		await run(started, write("a.txt", changed.replace("line 6", "six")));
		const later = await onlyFile(started.session.reviewFiles());
		expect(later.hunks.map(({ newStart }) => newStart)).toEqual([1, 5]);
		await review.decide(later, "keep");
		expect((await started.session.reviewFiles().read("session")).files).toEqual([]);
		expect(read(started, "a.txt")).toBe(changed.replace("line 6", "six"));
	});

	test("takes decisions back, the last one first", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		const file = await onlyFile(review);
		await review.decide(file, "keep", file.hunks[0]);
		await review.decide(await onlyFile(review), "revert");
		expect(read(started, "a.txt")).toBe(TEN.replace("line 2", "two"));
		expect(await review.takeBack()).toMatchObject({ file: { hunks: [{ newStart: 8 }] } });
		expect(read(started, "a.txt")).toBe(changed);
		expect(await review.takeBack()).toMatchObject({ file: { hunks: [{ newStart: 1 }, { newStart: 8 }] } });
		expect(await review.takeBack()).toBeNull();
		review.end();
		started.provider.reply("ok");
		await started.session.prompt("next");
		expect(JSON.stringify(started.provider.requests.at(-1)?.messages)).not.toContain("reverted");
	});

	test("reverting a created file deletes it, and a deleted one exists again", async () => {
		const started = await start({ "a.txt": "old\n" });
		await run(started, write("new.txt", "new\n"));
		const created = await onlyFile(started.session.reviewFiles());
		expect(created).toMatchObject({ before: null, beforeText: "" });
		expect(await started.session.reviewFiles().decide(created, "revert", created.hunks[0])).toMatchObject({
			file: null,
		});
		expect(existsSync(join(started.cwd, "new.txt"))).toBe(false);
		await run(started, write("a.txt", "other\n"));
		rmSync(join(started.cwd, "a.txt"));
		const deleted = await onlyFile(started.session.reviewFiles());
		expect(deleted).toMatchObject({ now: null, nowText: "", isShared: true });
		expect(await started.session.reviewFiles().decide(deleted, "revert")).toMatchObject({ file: null });
		expect(read(started, "a.txt")).toBe("old\n");
	});

	test("refuses a file that changed while it was on the screen, or became a link", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		const file = await onlyFile(review);
		writeFileSync(join(started.cwd, "a.txt"), "mine\n");
		expect(await review.decide(file, "revert")).toEqual({ problem: "it changed while a question was open" });
		expect(read(started, "a.txt")).toBe("mine\n");
		expect(await onlyFile(review)).toMatchObject({ isShared: true });
		rmSync(join(started.cwd, "a.txt"));
		writeFileSync(join(started.cwd, "target.txt"), "target\n");
		symlinkSync("target.txt", join(started.cwd, "a.txt"));
		expect(await onlyFile(review)).toMatchObject({ problem: "it is a link now" });
	});

	test("is read during a run, but decides nothing then", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		let release = () => {};
		started.provider.reply({ content: [text("Wait.")], hold: new Promise<void>((resolve) => (release = resolve)) });
		const next = started.session.prompt("go on");
		const file = await onlyFile(review);
		await expect(review.decide(file, "revert")).rejects.toMatchObject({ code: "session_busy" });
		release();
		await next;
		expect(read(started, "a.txt")).toBe(changed);
	});

	test("a binary file is kept or reverted as a whole", async () => {
		const started = await start({ "a.bin": "\0one" });
		await run(started, write("a.bin", "\0two"));
		const file = await onlyFile(started.session.reviewFiles());
		expect(file).toMatchObject({ beforeText: null, nowText: null, hunks: [], problem: null });
		expect(await started.session.reviewFiles().decide(file, "revert")).toMatchObject({ file: null });
		expect(read(started, "a.bin")).toBe("\0one");
	});

	test("/undo after a review restores the rest without a question, and nothing if all was reverted", async () => {
		const started = await start();
		await run(started, write("a.txt", changed));
		const review = started.session.reviewFiles();
		const file = await onlyFile(review);
		await review.decide(file, "revert", file.hunks[0]);
		expect(await started.session.undoFiles()).toMatchObject({ restored: [{ isDeleted: false }], left: [] });
		expect(read(started, "a.txt")).toBe(TEN);
		await run(started, write("a.txt", changed));
		await review.decide(await onlyFile(review), "revert");
		expect(await started.session.undoFiles()).toBeNull();
	});

	test("any changes of several turns: reverting every hunk, in any order, gives the first content", async () => {
		const line = fc.constantFrom("a\n", "b\n", "c\r\n", "d\n");
		const contents = fc.array(line, { minLength: 1, maxLength: 12 }).map((lines) => lines.join(""));
		const picks = fc.array(fc.nat({ max: 20 }), { minLength: 12, maxLength: 12 });
		await fc.assert(
			fc.asyncProperty(
				contents,
				fc.array(contents, { minLength: 1, maxLength: 3 }),
				picks,
				async (first, later, order) => {
					const started = await start({ "a.txt": first });
					for (const content of later) await run(started, write("a.txt", content));
					const review = started.session.reviewFiles();
					for (const pick of order) {
						const [file] = (await review.read("session")).files;
						if (!file) break;
						const outcome = await review.decide(file, "revert", file.hunks[pick % file.hunks.length]);
						expect(outcome).toHaveProperty("file");
					}
					const [left] = (await review.read("session")).files;
					if (left) await review.decide(left, "revert");
					expect(read(started, "a.txt")).toBe(first);
					await started.session.dispose();
				},
			),
			{ numRuns: 25 },
		);
	});
});
