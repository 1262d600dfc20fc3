import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { listFiles } from "../../src/modes/interactive/palette-controller.js";
import { findTool } from "../../src/tools/find.js";
import { grepTool } from "../../src/tools/grep.js";
import { createLocalMachine, startRipgrep } from "../../src/tools/machine/local-machine.js";
import { runSearch } from "../../src/tools/machine/ripgrep.js";
import { FileSearch } from "../../src/tui/file-search.js";
import { textOf, toolContext } from "./context.js";

const FILES = 20_000;
const tree = makeTree();
afterAll(() => rmSync(tree, { recursive: true, force: true }));
const never = new AbortController().signal;

function makeTree(): string {
	const root = mkdtempSync(join(tmpdir(), "pi-tree-"));
	for (let folder = 0; folder < FILES / 500; folder++) {
		const path = join(root, `part${folder % 7}`, `source${folder}`);
		mkdirSync(path, { recursive: true });
		for (let file = 0; file < 500; file++) writeFileSync(join(path, `file${file}.ts`), "common\n");
	}
	return root;
}

test("a search stops ripgrep as soon as it has enough records", async () => {
	const { cwd } = await toolContext();
	writeFileSync(join(cwd, "a.txt"), "x\n".repeat(100));
	// Ripgrep never finishes reading this one.
	execFileSync("mkfifo", [join(cwd, "pipe")]);
	let records = 0;
	const onRecord = () => ++records < 3;
	const args = ["--no-config", "--threads=2", "x", "a.txt", "pipe"];
	expect(
		await runSearch((options) => startRipgrep(args, { cwd, ...options }), { signal: never, separator: "\n", onRecord }),
	).toEqual({
		status: "done",
		complete: false,
	});
	expect(records).toBe(3);
});

test("find counts 20,000 files and returns the first in sorted order", async () => {
	const context = await toolContext({ cwd: tree });
	const result = await findTool.run({ pattern: "*.ts", limit: 3 }, context);
	expect(textOf(result)).toBe(
		"part0/source0/file0.ts\npart0/source0/file1.ts\npart0/source0/file10.ts\n\n[First 3 of 20000 files. Narrow the pattern, or raise limit.]",
	);
	expect(result.details).toEqual({ files: FILES });
	const all = await findTool.run({ pattern: "*.ts", limit: 1_000_000 }, context);
	expect(textOf(all)).toMatch(/^part0\/source0\/file0\.ts\n.*\[Cut: only the first \d+ of 20000 lines/s);
});

test("grep in 20,000 files returns the first matches found, and collects a bounded number of characters", async () => {
	const context = await toolContext({ cwd: tree });
	expect((await grepTool.run({ pattern: "common", limit: 5 }, context)).details).toEqual({ matches: 5, files: 5 });
	const lines = await toolContext();
	for (const name of ["a", "b"]) writeFileSync(join(lines.cwd, name), `${"x".repeat(400)}\n`.repeat(20_000));
	const result = await grepTool.run({ pattern: "x", limit: 1_000_000 }, lines);
	expect(textOf(result)).toMatch(/\[First \d+ matches found; there are more\. Narrow the search\.\]/);
	expect(result.details?.matches).toBeLessThan(4_000_000 / 400 + 1);
});

test("@ shows results before all files are listed, and never blocks a key", async () => {
	let listed = 0;
	let show = () => {};
	const shown = new Promise<void>((resolve) => {
		show = resolve;
	});
	const files = new FileSearch(async (onFile, signal) => {
		let last = "";
		const onListed = (path: string) => {
			if (++listed === FILES) last = path;
			else onFile(path);
		};
		await listFiles(createLocalMachine(tree), onListed, signal);
		// Ripgrep may be done before the first results are due.
		await shown;
		onFile(last);
	});
	let most = 0;
	const turns = (async () => {
		while (listed < FILES) {
			const before = listed;
			await nextTick();
			most = Math.max(most, listed - before);
		}
	})();
	const found = await files.search("file", { limit: 20, signal: never, onPartial: show });
	await turns;
	expect(found.length).toBe(20);
	expect(listed).toBe(FILES);
	// One piece of ripgrep's output, 64 KB, per turn of the event loop.
	expect(most).toBeLessThan(FILES / 2);
});
