import { expect, test } from "vitest";
import { playShadows } from "../../src/context-bench/play-shadows.js";
import { bundledFile } from "../../src/hooks/bundled-words.js";
import { loadHooks } from "../../src/hooks/load.js";
import { assistant, result, session, user } from "../helpers/entries.js";
import { tempDir } from "../helpers/temp.js";

test("while a long session is played, other events are handled and the progress only grows", async () => {
	const entries = session(
		...Array.from({ length: 150 }, (_, turn) => [
			user(`look at file ${turn}`),
			assistant("", [{ id: `c${turn}`, arguments: { path: `src/file-${turn}.ts` } }]),
			result(`c${turn}`, `export const valueOfTheFile${turn} = 1;\n`.repeat(100)),
			assistant(`seen ${turn}`),
		]).flat(),
	);
	const file = { path: "pi:clear", realPath: bundledFile("clear"), scope: "bundled", name: "clear" } as const;
	const { hooks } = await loadHooks([file], { cacheDir: tempDir("pi-cache-"), timeoutMs: 30_000, send() {} });
	let [turns, isPlaying] = [0, true];
	const count = () => {
		turns++;
		if (isPlaying) setImmediate(count);
	};
	setImmediate(count);
	const shares: number[] = [];
	const played = await playShadows({ name: "", path: null, cwd: "/", entries }, hooks, [], {
		...{ retention: undefined, flags: {}, hookTimeoutMs: 30_000, findModel: () => null },
		onProgress: (share) => shares.push(share),
		signal: new AbortController().signal,
	});
	isPlaying = false;
	expect(played?.get("pi:clear")).toMatchObject({ requests: 300, problems: [] });
	// One for each strategy without pauses in between.
	expect(turns).toBeGreaterThan(4);
	expect(shares).toEqual([...shares].sort((a, b) => a - b));
	expect(Math.max(...shares)).toBeLessThanOrEqual(1);
});
