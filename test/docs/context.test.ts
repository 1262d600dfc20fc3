import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { run } from "../cli/subcommands/run.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

const page = readFileSync(new URL("../../docs/context.md", import.meta.url), "utf8");
const [, hook = ""] = /^```ts shelve\.ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
const [, prompts = ""] = /^```prompts\n([\s\S]*?)^```$/m.exec(page) ?? [];
const [, json = ""] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
const commands = [...page.matchAll(/^```sh\npi (.*)\n```\n\n```text\n([\s\S]*?)^```$/gm)].map(
	([, line = "", output = ""]) => ({ line, output }),
);

/** Plays the conversation of the page with its hook. */
async function converse() {
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	writeFiles(cwd, { "shelve.ts": hook });
	const shelve = join(cwd, "shelve.ts");
	const { session, provider } = await startSession({
		agentDir,
		cwd,
		session: { kind: "new" },
		hookFiles: [shelve],
		systemPrompt: "Answer with a number.",
		tools: ["ls"],
	});
	provider.reply("2", "4");
	for (const prompt of prompts.trimEnd().split("\n")) await session.prompt(prompt);
	const file = session.sessionFile ?? "";
	await session.dispose();
	const show = async (line: string) => {
		const parsed = parseArgs(line.split(" "));
		if (parsed.kind !== "subcommand") throw new Error(`${line} is not a subcommand`);
		const { stdout } = await run(parsed.command, { ...parsed.options, agentDir, cwd });
		return stdout
			.replaceAll(file, "SESSION")
			.replaceAll(shelve, "shelve.ts")
			.replace(
				/Date: [\d-]+( |\\n)Current working directory: [\w/-]+…?/,
				"Date: 2026-01-02$1Current working directory: /work/sums",
			);
	};
	return show;
}

/** Columns are as wide as the paths in them. */
function spaced(text: string): string {
	return text.replace(/ {2,}/g, "  ");
}

test("every command on the page prints the output on the page", async () => {
	const show = await converse();
	expect(commands.length).toBe(4);
	for (const { line, output } of commands) expect([line, spaced(await show(line))]).toEqual([line, spaced(output)]);
});

test("pi context --json prints the JSON on the page", async () => {
	const show = await converse();
	expect(JSON.parse(await show("context --hook shelve.ts --json"))).toEqual(JSON.parse(json));
});

test("the page lists every rule of the context check", () => {
	const [, section = ""] = /^### The rules\n([\s\S]*?)^## /m.exec(page) ?? [];
	const listed = [...section.matchAll(/`(\w+_\w+)`/g)].map(([, rule]) => rule);
	const source = readFileSync(new URL("../../src/context/describe-problem.ts", import.meta.url), "utf8");
	const rules = [...source.matchAll(/^\t(\w+_\w+): /gm)].map(([, rule]) => rule);
	expect(listed.sort()).toEqual(rules.sort());
});
