import { join } from "node:path";
import { expect, test } from "vitest";
import { JobOutput } from "../../src/tools/job-output.js";
import { tempDir } from "../helpers/temp.js";

const LINES = Array.from({ length: 300 }, (_, line) => `${line} ${"x".repeat(100)}`);

test.each([
	[undefined, 39],
	[64 * 1024, 300],
])("the last lines come from the last %s bytes", async (recentBytes, expected) => {
	const dir = tempDir();
	const output = new JobOutput(dir, join(dir, "log"), recentBytes);
	await output.add(Buffer.from(`${LINES.join("\n")}\n`));
	const lines = output.lastLines(1000);
	expect(lines).toHaveLength(expected);
	expect(lines.slice(1)).toEqual(LINES.slice(LINES.length - expected + 1));
	await output.close();
});
