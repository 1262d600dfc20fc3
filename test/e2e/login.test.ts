import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { agentDirFor, conversation, openPi, submit } from "./support.js";

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
		const files = readdirSync(agentDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
		const holders = files.filter((file) => readFileSync(join(file.parentPath, file.name), "utf8").includes(CODE));
		expect(holders.map(({ name }) => name)).toEqual([]);
	},
);
