import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

// Parsing a file of this length from its start with each chunk would take minutes.
test.each(["loopback/scripted", "loopback-anthropic/scripted"])(
	"a file of 1 MB that %s streams in small pieces is complete",
	async (model) => {
		const provider = await startProvider();
		const cwd = tempDir();
		const content = 'a line with "quotes", \\ and ü\n'.repeat(35_000);
		provider.reply({ content: [toolCall("write", { path: "long.txt", content })], chunkSize: 40 });
		provider.on(() => "Written.");
		const run = await runPi(["--model", model, "-p", "write"], { agentDir: agentDirFor(provider), cwd });
		expect(run).toMatchObject({ code: 0, stdout: "Written.\n" });
		expect(readFileSync(join(cwd, "long.txt"), "utf8")).toBe(content);
	},
);
