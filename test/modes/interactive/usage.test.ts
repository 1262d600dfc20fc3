import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionLog } from "../../../src/log/session-log.js";
import { user } from "../../helpers/entries.js";
import { tempAgentDir } from "../../helpers/temp.js";
import { replyAt } from "../../helpers/usage.js";
import { startApp } from "./app.js";

function agentWithUsage(): string {
	const agentDir = tempAgentDir();
	for (const [cwd, model, cost] of [
		["/src/shop", "anthropic/claude-opus-4-1", 1.25],
		["/src/a-rather-long-project", "subscribed/model", 0],
	] as const) {
		const log = SessionLog.create({ dir: join(agentDir, "sessions", cwd.replaceAll("/", "-")), cwd });
		log.appendAll([
			user("go"),
			replyAt("2026-03-01T10:00:00.000Z", { model, input: 1500, output: 200, cacheRead: 8500, cost }),
			replyAt("2026-03-02T10:00:00.000Z", { model, input: 900, output: 80, cost: cost / 10 }),
		]);
		log.close();
	}
	return agentDir;
}

test.each([40, 80, 120])("at %d columns /usage shows a table that fits", async (columns) => {
	const app = await startApp({ columns, rows: 40, agentDir: agentWithUsage() });
	await app.terminal.waitFor("0%");
	for (const command of ["/usage", "/usage project", "/usage model 20000"]) {
		await app.submit(command);
		await app.terminal.waitFor(
			command === "/usage" ? "Usage by day" : command.includes("model") ? "days by model" : "Usage by project",
		);
	}
	const screen = (await app.terminal.text()).split("\n").map((line) => line.trimEnd());
	const from = screen.findIndex((line) => line.includes("Usage by day"));
	const to = screen.findIndex((line, row) => row > from && line.startsWith("─"));
	await expect(`${screen.slice(from, to).join("\n").trimEnd()}\n`).toMatchFileSnapshot(
		`../../screens/usage-${columns}.txt`,
	);
});

test("an unknown word after /usage is refused", async () => {
	const app = await startApp();
	await app.terminal.waitFor("0%");
	await app.submit("/usage modle");
	await app.terminal.waitFor("did you mean model?");
});
