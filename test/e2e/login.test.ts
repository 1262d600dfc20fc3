import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { agentDirFor, conversation, openPi, submit, submitIdle } from "./support.js";

const CODE = "secret-code-of-a-login";

test.each([40, 80, 120])(
	"a redirect URL typed while a login waits reaches no model and no file, at %i columns",
	async (columns) => {
		const provider = await startProvider();
		provider.reply("Hello.");
		const agentDir = agentDirFor(provider);
		const pi = await openPi({ agentDir, columns, rows: 30 });
		await pi.waitForText("0%");
		await submit(pi, "/login anthropic");
		await pi.waitForText("Log in to Anthropic");
		await pi.press("enter");
		await pi.waitForText(/redirect\s+URL/);
		pi.paste(`http://localhost:1/callback?code=${CODE}`);
		await pi.waitForText(CODE.slice(-8));
		await pi.press("escape");
		await pi.waitForGone(CODE.slice(-8));
		expect(await pi.screen()).not.toMatch(/failed|aborted/i);
		await submit(pi, "hello");
		await pi.waitForText("Hello.");
		expect(conversation(provider, 0)).toEqual(["user: hello"]);
		await submitIdle(pi, "/quit");
		await pi.exited;
		const files = readdirSync(agentDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		const holders = files.filter((file) => readFileSync(join(file.parentPath, file.name), "utf8").includes(CODE));
		expect(holders.map(({ name }) => name)).toEqual([]);
	},
);

/** Listens where the Anthropic login expects the browser's answer. Another program that already does is as good. */
async function takeCallbackPort(): Promise<void> {
	const server = createServer();
	await new Promise<void>((resolve) => {
		server.once("error", () => resolve()).listen(53692, "127.0.0.1", resolve);
	});
	onTestFinished(() => void server.close());
}

test("a login takes the pasted redirect URL although another program has its port", async () => {
	await takeCallbackPort();
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), columns: 120, rows: 30 });
	await pi.waitForText("0%");
	await submit(pi, "/login anthropic");
	await pi.waitForText("Log in to Anthropic");
	await pi.press("enter");
	await pi.waitForText(/redirect\s+URL/);
	pi.paste("http://localhost:53692/callback?code=a&state=of-another-login");
	await pi.waitForText("of-another-login");
	await pi.press("enter");
	await pi.waitForText("OAuth state mismatch");
});
