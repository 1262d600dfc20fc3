import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

const ALWAYS = { reasoning: true, thinkingLevelMap: { off: null, minimal: null, max: "max" } } as const;
const LINE = "Scripted always thinks · using low";

async function place() {
	const provider = await startProvider();
	const models = provider.modelsJson({ ...ALWAYS, apis: ["openai-responses"] });
	const agentDir = tempAgentDir({ models, settings: {} });
	return { provider: provider.on(() => "ok"), agentDir };
}

const MODEL = ["--model", "loopback-responses/scripted", "--no-session"];

test("print mode names the level that is used instead of the one asked for, on stderr", async () => {
	const { provider, agentDir } = await place();
	const run = await runPi([...MODEL, "--thinking", "off", "-p", "hi"], { agentDir });
	expect(run).toMatchObject({ code: 0, stdout: "ok\n", stderr: `${LINE}\n` });
	expect(provider.requests[0]?.body.reasoning).toMatchObject({ effort: "low" });
});

test("print mode sends max, by option and by suffix", async () => {
	const { provider, agentDir } = await place();
	const byOption = await runPi([...MODEL, "--thinking", "max", "-p", "hi"], { agentDir });
	const bySuffix = await runPi(["--model", "loopback-responses/scripted:max", "--no-session", "-p", "hi"], {
		agentDir,
	});
	expect([byOption, bySuffix]).toMatchObject([
		{ code: 0, stderr: "" },
		{ code: 0, stderr: "" },
	]);
	expect(provider.requests.map(({ body }) => body.reasoning)).toMatchObject([{ effort: "max" }, { effort: "max" }]);
});

test("JSON mode has the warning too", async () => {
	const { agentDir } = await place();
	const run = await runPi([...MODEL, "--thinking", "off", "--mode", "json", "-p", "hi"], { agentDir });
	expect(run.code).toBe(0);
	expect(run.stdout + run.stderr).toContain(LINE);
});
