import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor } from "./support.js";

const NEVER = "new Promise(() => {})";

/** A run in print mode with hooks that never finish. */
async function run(hooks: Record<string, string>, prompt: string) {
	const provider = await startProvider();
	provider.reply("hello");
	const agentDir = agentDirFor(provider, { settings: { hookTimeout: 100 }, hooks });
	const { code, stdout, stderr } = await runPi(["-p", prompt], { agentDir });
	return { code, stdout, stderr: stderr.replace(/\S+\/hooks\//g, "").split("\n") };
}

test("a factory, a top level and a handler that never finish are named, and the run continues to its answer", async () => {
	const hooks = {
		"factory.ts": `export default () => ${NEVER};`,
		"top.ts": `await ${NEVER}; export default () => {};`,
		"handler.ts": `export default (pi) => pi.on("turn_start", () => ${NEVER});`,
	};
	expect(await run(hooks, "hi")).toEqual({
		code: 0,
		stdout: "hello\n",
		stderr: [
			"Hook factory.ts did not load: its factory timed out after 100 ms",
			"Hook top.ts did not load: its top level timed out after 1000 ms",
			"Hook handler.ts:1:27 timed out after 100 ms (event: turn_start)",
			"",
		],
	});
});

test("a command that never finishes is named and exits with an error code", async () => {
	const source = `export default (pi) => {
		pi.command("never", { handler: () => ${NEVER} });
		pi.on("session", (event) => { if (event.reason === "shutdown") console.log("told of the end"); });
	};`;
	expect(await run({ "never.ts": source }, "/never")).toEqual({
		code: 1,
		stdout: "",
		stderr: [
			"pi: hook never.ts in /never never returned, so pi exits · fix it, or use --no-hooks",
			"told of the end",
			"",
		],
	});
});
