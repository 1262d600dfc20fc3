import { expect, test } from "vitest";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { run } from "./run.js";

test("the tools of a bundled hook that the session did not have count", async () => {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const { session, provider } = await startSession({ ...place, session: { kind: "new" } });
	provider.reply("hello");
	await session.prompt("hi");
	const file = session.sessionFile ?? "";
	await session.dispose();
	const { code, stdout } = await run(
		{ name: "bench", strategies: ["pi:recall"], sessions: [file], failIf: [] },
		{ ...place, json: true },
	);
	expect(code).toBe(0);
	const [{ results }] = JSON.parse(stdout).sessions;
	const [none, recall] = results.map(({ totals }: { totals: { sent: number } }) => totals.sent);
	expect(recall).toBeGreaterThan(none);
});
