import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor } from "./support.js";

test("a hook that answers with a BigInt is named with its line, and the prompt is still answered", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "echo kept" })]).reply("Done.");
	const source = `export default function (pi) {
	pi.on("tool_result", () => ({ details: 10n }));
}
`;
	const run = await runPi(["-p", "go"], { agentDir: agentDirFor(provider, { hooks: { "big.ts": source } }) });
	expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(run.stderr.split("\n")).toEqual([
		"bash echo kept",
		expect.stringMatching(
			/^Hook big\.ts:2:5 failed on tool_result: "details" is a bigint, which JSON cannot represent; the answer was ignored$/,
		),
		"",
	]);
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("kept");
});
