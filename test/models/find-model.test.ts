import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findModel, messageTransformer } from "../../src/index.js";
import { startSession } from "../helpers/session.js";

const HOOK = `import { findModel, messageTransformer } from "@mariozechner/pi-coding-agent";
export default (pi) => pi.command("probe", {
	handler: () => {
		const { model, error } = findModel("openai", "gpt-5.5");
		const missing = findModel("openai", "gpt-0");
		const shell = { role: "bashExecution", command: "ls", output: "a", exitCode: 0, cancelled: false, truncated: false, timestamp: 0 };
		const [message] = messageTransformer([shell]);
		return { status: [model.id, error, missing.model, missing.error, message.role].join("|") };
	},
});`;

test("hooks can import findModel and messageTransformer from the package", async () => {
	const { session } = await startSession({ hooks: { "probe.ts": HOOK } });
	expect(await session.prompt("/probe")).toMatchObject({ status: 'gpt-5.5|||No model "openai/gpt-0"|user' });
});

test("findModel reads models.json, and names its problem if it has no such model", async () => {
	const { agentDir } = await startSession();
	expect(findModel("loopback", "scripted", { PI_CODING_AGENT_DIR: agentDir }).model).toMatchObject({ id: "scripted" });
	writeFileSync(join(agentDir, "models.json"), "{");
	expect(findModel("loopback", "scripted", { PI_CODING_AGENT_DIR: agentDir })).toEqual({
		model: null,
		error: expect.stringMatching(/^No model "loopback\/scripted" · models\.json has a problem: .*models\.json:1:2/),
	});
	expect(findModel("openai", "gpt-5.5", { PI_CODING_AGENT_DIR: agentDir }).error).toBeNull();
	expect(messageTransformer([{ role: "user", content: "hi", timestamp: 1 }])).toHaveLength(1);
});
