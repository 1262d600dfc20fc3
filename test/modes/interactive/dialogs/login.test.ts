import { expect, test } from "vitest";
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
		await terminal.waitFor("API key for groq");
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
		await terminal.waitFor("Saved your groq account");
	},
);
