import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";
import { agentDirFor, openPi, submit } from "./support.js";

const MODEL = "amazon-bedrock/amazon.nova-lite-v1:0";
const ACCOUNT = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_REGION: "us-east-1" };
const MISSING = "Amazon Bedrock needs the package @aws-sdk/client-bedrock-runtime, which is not installed";
const HINT = "install it next to pi: npm install --global @aws-sdk/client-bedrock-runtime";

test("print mode names the package that a Bedrock model needs, in one line", async () => {
	const agentDir = tempAgentDir({});
	const run = await runPi(["--model", MODEL, "--no-session", "-p", "hi"], { agentDir, env: ACCOUNT });
	expect(run).toMatchObject({ code: 1, stdout: "", stderr: `${MISSING} · ${HINT}\n` });
});

test("a session that starts with a Bedrock model names the package at once", async () => {
	const settings = { defaultProvider: "amazon-bedrock", defaultModel: "amazon.nova-lite-v1:0" };
	const pi = await openPi({ agentDir: agentDirFor(await startProvider(), { settings }), columns: 120, env: ACCOUNT });
	await pi.waitForText(/npm\s+install\s+--global/);
	expect((await pi.screen()).replace(/\s+/g, "")).toContain(`${MISSING}·${HINT}`.replace(/\s+/g, ""));
});

test.each([40, 80, 120])("choosing a Bedrock model names the package that it needs, at %i columns", async (columns) => {
	const agentDir = agentDirFor(await startProvider());
	const pi = await openPi({ agentDir, columns, rows: 30, env: ACCOUNT });
	await pi.waitForText("0%");
	await submit(pi, `/model ${MODEL}`);
	await pi.waitForText(/npm\s+install\s+--global/);
	const words = (await pi.screen()).replace(/\s+/g, "");
	expect(words).toContain(`${MISSING}·${HINT}`.replace(/\s+/g, ""));
});
