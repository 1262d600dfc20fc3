import { expect, test } from "vitest";
import { httpError, startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";
import { openPi, submit } from "./support.js";

/** A model that Anthropic's client warns about. */
const OLD = "claude-3-opus-20240229";
const NOTICE = `${OLD} is deprecated and ends on January 5th, 2026 · choose another model`;

/** A provider that fails twice before it answers. */
async function startOldModel() {
	const provider = await startProvider();
	provider.reply(httpError(529, {}, "busy"), httpError(529, {}, "busy")).on(() => "Fine.");
	const agentDir = tempAgentDir({
		models: provider.modelsJson({ id: OLD }),
		settings: { retry: { baseDelayMs: 1 } },
	});
	return { agentDir, args: ["--model", `loopback-anthropic/${OLD}`, "--no-session"] };
}

test("print mode prints one line about a deprecated model, however often it is retried", async () => {
	const { agentDir, args } = await startOldModel();
	const { code, stderr, stdout } = await runPi([...args, "-p", "hi", "again"], { agentDir });
	expect({ code, stdout }).toEqual({ code: 0, stdout: "Fine.\nFine.\n" });
	expect(stderr.split("\n").filter((line) => line.includes("deprecated"))).toEqual([NOTICE]);
});

test.each([40, 80, 120])("the shell shows one notice about a deprecated model, at %i columns", async (columns) => {
	const { agentDir, args } = await startOldModel();
	const pi = await openPi({ agentDir, args, columns, rows: 40 });
	await pi.waitForText("0%");
	await submit(pi, "first");
	await pi.waitForText("Fine.");
	await submit(pi, "second");
	await pi.waitForScreen((screen) => screen.split("Fine.").length === 3, "two answers");
	const text = (await pi.scrollback()).replace(/\s+/g, " ");
	expect(text.split(OLD).length - 1).toBeLessThanOrEqual(2); // the footer names the model too
	expect(text.split("is deprecated").length - 1).toBe(1);
	expect(text.replace(/ ▎ /g, " ")).toContain(NOTICE);
});
