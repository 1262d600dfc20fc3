import { expect, test } from "vitest";
import { startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

const COST = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const REASON = "This session has cost $2.00; the budget is $1.50 · raise budget.perSession in the settings to continue";

async function place(budget: object) {
	const provider = await startProvider();
	const agentDir = tempAgentDir({
		models: provider.modelsJson({ cost: COST }),
		settings: { defaultProvider: "loopback", defaultModel: "scripted", budget },
	});
	return { provider, agentDir };
}

test("without a person a spent budget stops the run with the reason and exit code 1, and pi usage reports it", async () => {
	const { provider, agentDir } = await place({ perSession: 1.5 });
	const expensive = { content: [toolCall("ls", {})], usage: { input: 2_000_000, output: 0 } };
	provider.reply(expensive);
	expect(await runPi(["-p", "go"], { agentDir })).toMatchObject({ code: 1, stdout: "", stderr: `ls .\n${REASON}\n` });
	provider.reply(expensive);
	const json = await runPi(["--mode", "json", "go"], { agentDir });
	expect(json).toMatchObject({ code: 1, stderr: `${REASON}\n` });
	expect(json.stdout).toContain(JSON.stringify({ type: "notice", level: "warning", message: REASON }));
	expect(provider.requests.length).toBe(2);

	const usage = await runPi(["usage", "--by", "model", "--days", "1", "--json"], { agentDir });
	const sums = { sessions: 2, requests: 2, input: 4_000_000, output: 0, cacheRead: 0, cacheWrite: 0, cost: 4 };
	expect(usage).toMatchObject({ code: 0, stderr: "" });
	expect(JSON.parse(usage.stdout)).toEqual({ rows: [{ key: "loopback/scripted", ...sums }], total: sums });
});

test("the budget of a day stops a new session before its first request", async () => {
	const { provider, agentDir } = await place({ perDay: 2 });
	provider.reply({ content: [text("done")], usage: { input: 2_000_000, output: 0 } });
	expect(await runPi(["-p", "go"], { agentDir })).toMatchObject({ code: 0, stdout: "done\n" });
	const second = await runPi(["-p", "more"], { agentDir });
	expect(second).toMatchObject({ code: 1, stdout: "" });
	expect(second.stderr).toMatch(/^Today's sessions have cost \$2\.00; the budget is \$2\.00/);
	expect(await runPi(["--mode", "json", "more"], { agentDir })).toMatchObject({ code: 1, stderr: second.stderr });
	expect(provider.requests.length).toBe(1);
});
