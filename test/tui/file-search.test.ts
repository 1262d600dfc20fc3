import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { FileSearch, type FoundFile, type ListFiles } from "../../src/tui/file-search.js";

const paths = (found: readonly FoundFile[]) => found.map(({ path }) => path);
const listOf =
	(...files: string[]): ListFiles =>
	async (onFile) => {
		for (const file of files) onFile(file);
	};
const never = new AbortController().signal;

test("folders are found too, and an empty query lists paths near the root first", async () => {
	const search = new FileSearch(listOf("src/tui/editor.ts", "src/main.ts", "README.md"));
	const find = (query: string) => search.search(query, { limit: 3, signal: never });
	expect(paths(await find(""))).toEqual(["src/", "README.md", "src/tui/"]);
	expect(paths(await find("tui"))).toEqual(["src/tui/", "src/tui/editor.ts"]);
	expect(paths(await find("src/tui/"))).toEqual(["src/tui/editor.ts"]);
});

test("files of equal score are sorted by name", async () => {
	const search = new FileSearch(listOf("note3.md", "note1.md", "note4.md", "note2.md"));
	const find = async (limit: number) => paths(await search.search("note", { limit, signal: never }));
	expect([await find(9), await find(2)]).toEqual([
		["note1.md", "note2.md", "note3.md", "note4.md"],
		["note1.md", "note2.md"],
	]);
});

test("matches are reported while the list is still growing", async () => {
	let finish = () => {};
	const search = new FileSearch(async (onFile) => {
		onFile("early/price.ts");
		await new Promise<void>((resolve) => {
			finish = resolve;
		});
		onFile("price.ts");
	});
	const partial: string[][] = [];
	const all = search.search("price", {
		limit: 5,
		signal: never,
		onPartial: (found) => {
			partial.push(paths(found));
			finish();
		},
	});
	expect(paths(await all)).toEqual(["price.ts", "early/price.ts"]);
	expect(partial[0]).toEqual(["early/price.ts"]);
});

/** 500 000 paths, the last of them with a unique name. */
const MANY = Array.from({ length: 499_999 }, (_, index) => `packages/part${index % 977}/source/file${index}.ts`);
MANY.push("packages/needle/here.ts");

test("a search in 500 000 paths yields to the event loop every 2 000 of them, and a longer query searches only the matches", async () => {
	const many = new FileSearch(async (onFile) => {
		for (const path of MANY) onFile(path);
	});
	let turns = 0;
	let isDone = false;
	const count = async () => {
		while (!isDone) {
			await nextTick();
			turns++;
		}
	};
	const counting = count();
	expect(paths(await many.search("needle", { limit: 3, signal: never }))).toEqual([
		"packages/needle/",
		"packages/needle/here.ts",
	]);
	isDone = true;
	await counting;
	expect(turns).toBeGreaterThanOrEqual(500_000 / 2_000);

	turns = 0;
	isDone = false;
	const countingAgain = count();
	expect(paths(await many.search("needleh", { limit: 3, signal: never }))).toEqual(["packages/needle/here.ts"]);
	isDone = true;
	await countingAgain;
	expect(turns).toBeLessThan(10);
});

test("an aborted search returns nothing and stops", async () => {
	const abort = new AbortController();
	const search = new FileSearch(async (onFile) => {
		for (const path of MANY) onFile(path);
	});
	const partial: unknown[] = [];
	const found = search.search("packages", { limit: 3, signal: abort.signal, onPartial: (some) => partial.push(some) });
	abort.abort();
	expect(await found).toEqual([]);
	expect(partial).toEqual([]);
});

test("canceling stops a growing list, and the next search starts a new one", async () => {
	const lists: AbortSignal[] = [];
	const search = new FileSearch(async (onFile, signal) => {
		lists.push(signal);
		onFile("one.ts");
		if (lists.length === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
	});
	const abort = new AbortController();
	const first = search.search("one", { limit: 3, signal: abort.signal });
	abort.abort();
	search.cancel();
	expect(await first).toEqual([]);
	expect(paths(await search.search("one", { limit: 3, signal: never }))).toEqual(["one.ts"]);
	expect(lists.map((signal) => signal.aborted)).toEqual([true, false]);
});

test("a list that fails keeps the paths found so far", async () => {
	const search = new FileSearch(async (onFile) => {
		onFile("one.ts");
		throw new Error("no ripgrep");
	});
	expect(paths(await search.search("o", { limit: 3, signal: never }))).toEqual(["one.ts"]);
});
