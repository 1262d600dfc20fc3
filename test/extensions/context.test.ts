import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { text } from "../helpers/loopback-provider.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { type App, startApp } from "../modes/interactive/app.js";

/** Adds a message to each run, changes the text of prompts, drops one, and extends the system prompt. */
const EXTENSION = `export default (pi) => {
	pi.on("before_agent_start", (event) => ({
		systemPrompt: event.systemPrompt + "\\n\\nAnswer in rhymes.",
		message: { customType: "note", content: "a note of the extension", display: false },
	}));
	pi.on("context", (event) => ({
		messages: event.messages
			.filter((message) => JSON.stringify(message).includes("secret plan") === false)
			.map((message) => (message.role === "user" && JSON.stringify(message).includes("teh")
				? { ...message, content: [{ type: "text", text: "the corrected prompt" }] }
				: message)),
	}));
};
`;

async function start(columns: number): Promise<App> {
	const agentDir = tempAgentDir();
	writeFiles(agentDir, { "extensions/rhymes.ts": EXTENSION });
	const app = await startApp({ agentDir, columns, rows: 30 });
	await app.terminal.waitFor("0%");
	for (const [prompt, reply] of [
		["the secret plan", "One."],
		["fix teh typo", "Two."],
	] as const) {
		app.provider.reply([text(reply)]);
		await app.submit(prompt);
		await app.terminal.waitFor(reply);
	}
	return app;
}

test.each([40, 80, 120])("at %i columns /context shows what an extension adds, replaces and drops", async (columns) => {
	const app = await start(columns);
	await app.submit("/context");
	await app.terminal.waitFor(/Next request|Context of the next request/);
	await app.terminal.type("h");
	await app.terminal.waitFor("secret");
	const rows = (await app.terminal.screen()).map((row) => row.trimEnd());
	expect(rows.every((row) => row.length <= columns)).toBe(true);
	const shown = rows
		.join("\n")
		.trim()
		.replace(/\d{4}-\d\d-\d\d/, "YYYY-MM-DD")
		.replace(/pi-home-\w{6}/, "pi-home");
	await expect(`${shown}\n`).toMatchFileSnapshot(`../screens/context-extension-${columns}.txt`);
});

test("the ledger names the extension, and every request can be recomputed from the log", async () => {
	const { agentDir, session, cwd } = await start(80);
	const file = session().sessionFile ?? "";
	const sent = session().context.messages.length;
	await session().dispose();
	const options = { agentDir, cwd, session: file };
	const ledger = await run({ name: "context", verify: false }, options);
	const rows = ledger.stdout
		.split("\n")
		.map((row) => row.replaceAll(`${agentDir}/extensions/`, "").replace(/ +/g, " "));
	expect(rows.filter((row) => row.includes("rhymes.ts"))).toMatchInlineSnapshot(`
		[
		  "hooks: rhymes.ts",
		  "- system 5 tok cached rhymes.ts rhymes:system-prompt-after: Answer in rhymes.",
		  "- user 10 tok cached rhymes.ts a note of the extension",
		  "5 user 9 tok, was 7 cached rhymes.ts the corrected prompt",
		  "- user 10 tok cached rhymes.ts a note of the extension",
		  "1 user 8 tok by rhymes.ts",
		]
	`);
	expect(sent).toBeGreaterThan(0);
	expect(await run({ name: "context", verify: true }, options)).toMatchObject({ code: 0, stderr: "" });
});
