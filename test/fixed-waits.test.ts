import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/**
 * Tests wait for what they expect (`expect.poll`, `vi.waitFor`, an event), never for a time: a busy machine needs longer, and
 * an idle one waits for nothing. What is left waits because a time is tested, at a random moment of a fault, or for the pace of
 * a scripted server or terminal. Whoever removes one lowers the ceiling, and nobody raises it.
 */
const CEILING = 20;

const root = fileURLToPath(new URL("..", import.meta.url));

/** The places where a file waits for a fixed time, as `path:line`; not those that look again and again for a condition. */
function fixedWaits(path: string): string[] {
	const text = readFileSync(join(root, path), "utf8");
	const [, named] = /\bsetTimeout as (\w+) \} from "node:timers\/promises"/.exec(text) ?? [];
	const waits = ["new Promise(?:<\\w+>)?\\(\\((\\w+)\\) =>\\s*(?:\\{\\s*)?setTimeout\\((?:\\(\\) => )?\\1\\b"];
	if (named !== undefined) waits.push(`await ${named}\\(`);
	return [...text.matchAll(new RegExp(waits.join("|"), "g"))].flatMap(({ index }) => {
		const before = text.slice(0, index);
		const isLoop = /\bwhile \([^\n]*\) await $/.test(before);
		return isLoop ? [] : [`${path}:${before.split("\n").length}`];
	});
}

test("no test waits for a fixed time, except where the time is what it tests (lower the ceiling when you remove one)", () => {
	const files = readdirSync(join(root, "test"), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && /\.(ts|js|mjs)$/.test(entry.name))
		.map((entry) => posix.join(entry.parentPath.slice(root.length).replaceAll("\\", "/"), entry.name))
		.filter((path) => !path.startsWith("test/bench/"));
	const found = files.flatMap(fixedWaits).sort();
	expect(found.length, `\n${found.join("\n")}`).toBe(CEILING);
});
