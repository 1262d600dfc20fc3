import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SessionLog } from "../../../src/log/session-log.js";
import { sessionDirName } from "../../../src/log/session-paths.js";
import { assistant, user } from "../../helpers/entries.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { run } from "./run.js";

function writeSession(agentDir: string, cwd: string, texts: string[], name?: string): SessionLog {
	const log = SessionLog.create({ dir: join(agentDir, "sessions", sessionDirName(cwd)), cwd });
	for (const [index, text] of texts.entries()) log.append(index % 2 === 0 ? user(text) : assistant(text));
	if (name !== undefined) log.append({ type: "session_info", timestamp: "2026-01-01T00:00:00.000Z", name });
	log.close();
	return log;
}

describe("pi sessions", () => {
	test("list prints the sessions of this directory, and a search finds names and text", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		const bug = writeSession(agentDir, cwd, ["fix the bug", "it is the parser"], "bug hunt");
		const docs = writeSession(agentDir, cwd, ["write the docs"]);
		writeSession(agentDir, tempDir(), ["elsewhere"]);

		const all = await run({ name: "sessions", action: "list" }, { agentDir, cwd });
		expect(all.code).toBe(0);
		expect(all.stdout).toContain(`${bug.id.slice(0, 8)}  `);
		expect(all.stdout).toContain("bug hunt · fix the bug");
		expect(all.stdout).toContain("write the docs");
		expect(all.stdout).not.toContain("elsewhere");

		const json = async (search: string) => {
			const { stdout } = await run({ name: "sessions", action: "list", search }, { agentDir, cwd, json: true });
			return JSON.parse(stdout).map(({ id, excerpt }: { id: string; excerpt: string | null }) => [id, excerpt]);
		};
		expect(await json("PARSER")).toEqual([[bug.id, "it is the parser"]]);
		expect(await json("bug hunt")).toEqual([[bug.id, "bug hunt"]]);
		expect(await json(docs.id.slice(0, 10))).toEqual([[docs.id, null]]);
		const nothing = await run({ name: "sessions", action: "list", search: "zebra" }, { agentDir, cwd });
		expect(nothing).toMatchObject({ code: 1, stdout: "", stderr: 'No session contains "zebra"\n' });
	});

	test("list reports a directory without sessions", async () => {
		const result = await run({ name: "sessions", action: "list" });
		expect(result).toMatchObject({ code: 0, stdout: "" });
		expect(result.stderr).toContain("No sessions in ");
	});

	test("show prints one entry per line, without control sequences on a terminal", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		const log = writeSession(agentDir, cwd, ["a\u009b31m question", "the answer"], "named");
		const target = log.id.slice(0, 8);
		const { code, stdout } = await run(
			{ name: "sessions", action: "show", target },
			{ agentDir, cwd, outIsTerminal: true },
		);
		expect(code).toBe(0);
		expect(stdout.split("\n")).toEqual([
			`file      ${log.path}`,
			`id        ${log.id}`,
			"name      named",
			`started   ${log.header.timestamp} in ${cwd}`,
			"content   4 entries, 2 messages, 0 tool calls",
			"usage     0 tokens, $0.0000",
			"",
			expect.stringMatching(/^0 {2}session {7}\{"/),
			"1  user          a 31m question",
			"2  assistant     the answer",
			'3  session_info  {"name":"named"}',
			"",
		]);
		const json = await run({ name: "sessions", action: "show", target }, { agentDir, cwd, json: true });
		expect(JSON.parse(json.stdout)).toMatchObject({
			name: "named",
			totalMessages: 2,
			entries: [{ type: "session" }, {}, {}, {}],
		});
	});

	test("show names a missing session", async () => {
		await expect(run({ name: "sessions", action: "show", target: "0000" })).rejects.toThrow(
			'There is no session "0000"',
		);
	});
});
