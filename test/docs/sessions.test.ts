import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { HELP_TOPICS } from "../../src/cli/subcommand-help.js";
import { encodeEntry } from "../../src/log/codec.js";
import type { SessionEntry } from "../../src/log/entry.js";
import type { IssueKind } from "../../src/log/session-checker.js";
import { sessionDirName } from "../../src/log/session-paths.js";
import { run } from "../cli/subcommands/run.js";
import { assistant, result, user } from "../helpers/entries.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";

const page = readFileSync(new URL("../../docs/sessions.md", import.meta.url), "utf8");
const [tree = ""] = [...page.matchAll(/```jsonl\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
/** The commands of the page in order, with their output. */
const examples = [...page.matchAll(/```console\n([\s\S]*?)```/g)].flatMap(([, block = ""]) =>
	block
		.split(/^\$ /m)
		.slice(1)
		.map((text) => ({ command: text.slice(0, text.indexOf("\n")), output: text.slice(text.indexOf("\n") + 1) })),
);

function write(dir: string, name: string, modified: string, lines: (SessionEntry | string)[]): void {
	const path = join(dir, name);
	writeFileSync(path, lines.map((line) => (typeof line === "string" ? `${line}\n` : encodeEntry(line))).join(""));
	utimesSync(path, new Date(modified), new Date(modified));
}

function setUp(): { agentDir: string; cwd: string } {
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	const dir = join(agentDir, "sessions", sessionDirName(cwd));
	mkdirSync(dir, { recursive: true });
	const header = (id: string, timestamp: string): SessionEntry => ({ type: "session", version: 1, id, timestamp, cwd });
	write(dir, "2026-01-02T03-04-05-678Z_0b8e3f1c.jsonl", "2026-01-02T03:10:00Z", [
		header("0b8e3f1c", "2026-01-02T03:04:05.678Z"),
		user("Why does the test fail?"),
		assistant("I will look at the parser.", [{ id: "call_1" }]),
		result("call_1", "export const parse = (text) => text.slice(1);"),
		assistant("The Parser drops the first character."),
		{ type: "session_info", timestamp: "2026-01-02T03:10:00.000Z", name: "failing test" },
	]);
	write(dir, "2026-01-03T08-00-00-000Z_7c1d22aa.jsonl", "2026-01-03T09:00:00Z", [
		header("7c1d22aa", "2026-01-03T08:00:00.000Z"),
		user("run the release script"),
		assistant("", [{ id: "call_7", name: "bash" }]),
		'{"type":"message","timestamp":"2026-01-0',
	]);
	writeFileSync(join(cwd, "old.jsonl"), tree);
	return { agentDir, cwd };
}

test("the commands of the page print what it shows, where … stands for any text", async () => {
	const place = setUp();
	for (const { command, output } of examples) {
		const line = parseArgs(command.split(" ").slice(1));
		if (line.kind !== "subcommand") throw new Error(command);
		const { stdout, stderr } = await run(line.command, { ...place, json: line.options.json });
		const pattern = output.split("…").map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
		expect(stdout + stderr, command).toMatch(new RegExp(`^${pattern.join("[^\\n]*")}$`));
	}
	expect(examples.map(({ command }) => command.split(" ")[2])).toEqual([
		...["list", "show", "search", "check", "repair", "import"],
	]);
});

test("the page describes every kind of problem", () => {
	const kinds: Record<IssueKind, true> = {
		...{ no_header: true, other_format: true, damaged_line: true, long_line: true, unanswered_call: true },
		...{ stray_result: true, bad_index: true, second_header: true, unfinished_write: true, unreadable: true },
	};
	for (const kind of Object.keys(kinds)) expect(page).toMatch(new RegExp(`^\\|.*\`${kind}\``, "m"));
});

test("every action of the page has its own help", () => {
	for (const { command } of examples) expect(HELP_TOPICS).toContain(command.split(" ").slice(1, 3).join(" "));
});
