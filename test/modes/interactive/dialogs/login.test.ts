import { expect, test } from "vitest";
import { skipTime } from "../../../helpers/skip-time.js";
import { tempAgentDir } from "../../../helpers/temp.js";
import { startApp } from "../app.js";

test.each([80, 40])(
	"/login lists the ways to log in with their state, and masks the key, at %d columns",
	async (columns) => {
		const agentDir = tempAgentDir({ auth: { groq: { type: "api_key", key: "gsk_0123456789ab" } } });
		const { terminal, submit } = await startApp({ columns, rows: 30, agentDir });
		await terminal.waitFor("0%");
		await submit("/login");
		await terminal.waitFor("Which provider?");
		await terminal.type("gro");
		const list = await terminal.screen();
		await terminal.press("enter");
		await terminal.waitFor("API key for Groq");
		await terminal.paste("gsk_9876543210\n ba");
		const input = await terminal.screen();
		const parts = [list, input].map((screen) => {
			const from = screen.findIndex((line) => line.startsWith("──"));
			return screen
				.slice(
					from,
					screen.findLastIndex((line) => line.startsWith("~")),
				)
				.join("\n");
		});
		await expect(`${parts.join("\n\n")}\n`).toMatchFileSnapshot(`../../../screens/login-${columns}.txt`);
		await terminal.press("enter");
		await terminal.waitFor(/pasted as\s+several|Save this API key/);
		skipTime(1);
		await terminal.type("y");
		await terminal.waitFor("Saved your Groq account");
	},
);

test.each([40, 80, 120])(
	"/login lists well-known providers first, then the others by name, at %d columns",
	async (columns) => {
		const { terminal, submit } = await startApp({ columns, rows: 50 });
		await terminal.waitFor("0%");
		await submit("/login");
		await terminal.waitFor("Which provider?");
		const names: string[] = [];
		for (let row = 0; row < 16; row += 1) {
			const line = (await terminal.screen()).find((line) => line.startsWith(" → ")) ?? "";
			names.push(line.slice(3).split("  ")[0]?.replace(/…$/, "") ?? "");
			await terminal.press("down");
		}
		// A narrow screen truncates long names.
		const expected = [
			"Anthropic (Claude Pro/Max)",
			"Anthropic",
			"OpenAI",
			"OpenAI (ChatGPT Plus/Pro)",
			"Google",
			"GitHub Copilot",
			"GitHub Copilot",
			"OpenRouter",
			"OpenRouter",
			"xAI (Grok/X subscription)",
			"xAI",
			"DeepSeek",
			"Mistral",
			"Groq",
			"Kimi Code (subscription)",
			"Meta (Muse subscription)",
		];
		const shortest = columns === 40 ? 17 : Number.POSITIVE_INFINITY;
		expect(names.map((name) => name.slice(0, shortest))).toEqual(expected.map((name) => name.slice(0, shortest)));
	},
);
