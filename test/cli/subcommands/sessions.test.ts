import { mkdirSync, writeFileSync } from "node:fs";
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
		// The name is in the row already.
		const named = await run({ name: "sessions", action: "list", search: "Bug hunt" }, { agentDir, cwd });
		expect(named.stdout).toContain("bug hunt · fix the bug\n");
		const found = await run({ name: "sessions", action: "list", search: "parser" }, { agentDir, cwd });
		expect(found.stdout).toContain("bug hunt · it is the parser\n");
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

describe("pi sessions --all", () => {
	test("list and search read every directory, and show and check find ids there", async () => {
		const [agentDir, cwd, other] = [tempAgentDir(), tempDir("pi-project-"), tempDir("pi-other-")];
		const here = writeSession(agentDir, cwd, ["fix the bug"]);
		const there = writeSession(agentDir, other, ["fix the docs"], "docs");
		const all = true as const;

		const list = await run({ name: "sessions", action: "list", all }, { agentDir, cwd });
		expect(list.stdout).toMatch(/^id +modified \(UTC\) +messages +directory +name or text\n/);
		expect(list.stdout).toMatch(new RegExp(`${other} +docs · fix the docs\n`));
		expect(list.stdout).toMatch(new RegExp(`${cwd} +fix the bug\n`));
		const only = await run({ name: "sessions", action: "list", search: "docs", all }, { agentDir, cwd, json: true });
		expect(JSON.parse(only.stdout)).toMatchObject([{ id: there.id, cwd: other, excerpt: "fix the docs" }]);

		const found = await run(
			{ name: "sessions", action: "search", text: "FIX THE", all },
			{ agentDir, cwd, json: true },
		);
		expect(
			JSON.parse(found.stdout)
				.map(({ id }: { id: string }) => id)
				.sort(),
		).toEqual([here.id, there.id].sort());
		const near = await run({ name: "sessions", action: "search", text: "docs" }, { agentDir, cwd });
		expect(near).toMatchObject({
			code: 1,
			stdout: "",
			stderr: expect.stringContaining("--all searches all directories"),
		});

		const show = await run({ name: "sessions", action: "show", target: there.id, all }, { agentDir, cwd });
		expect(show.stdout).toContain("fix the docs");
		await expect(run({ name: "sessions", action: "show", target: there.id }, { agentDir, cwd })).rejects.toThrow(
			"There is no session",
		);
		const check = await run({ name: "sessions", action: "check", all }, { agentDir, cwd });
		expect(check).toMatchObject({ code: 0, stdout: "2 sessions with 5 entries: no problems\n", stderr: "" });
	});
});

describe("pi sessions search", () => {
	test("prints the entries with the match marked, at most five of a session", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		const log = writeSession(
			agentDir,
			cwd,
			Array.from({ length: 8 }, (_, n) => `the Needle ${n}`),
		);
		const search = { name: "sessions", action: "search", text: "needle" } as const;
		const { code, stdout, stderr } = await run(search, { agentDir, cwd });
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
		expect(stdout.split("\n")).toEqual([
			expect.stringMatching(new RegExp(`^${log.id.slice(0, 8)}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  the Needle 0$`)),
			"  1  user       the **Needle** 0",
			"  2  assistant  the **Needle** 1",
			"  3  user       the **Needle** 2",
			"  4  assistant  the **Needle** 3",
			"  5  user       the **Needle** 4",
			"  … and 3 more entries",
			"",
		]);
		const json = JSON.parse((await run(search, { agentDir, cwd, json: true })).stdout);
		expect(json).toMatchObject([{ path: log.path, id: log.id, cwd }]);
		expect(json[0].matches).toHaveLength(8);
		expect(json[0].matches[1]).toEqual({ entryIndex: 2, role: "assistant", excerpt: "the Needle 1", from: 4, to: 10 });
		expect(await run({ ...search, text: "zebra" }, { agentDir, cwd, json: true })).toMatchObject({
			code: 1,
			stdout: "[]\n",
		});
	});
});

describe("pi sessions check and repair", () => {
	test("name line, entry and call id as JSON too, with exit code 1 for a problem", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		writeSession(agentDir, cwd, ["fine"]);
		const log = SessionLog.create({ dir: join(agentDir, "sessions", sessionDirName(cwd)), cwd });
		log.append(user("go"));
		log.append(assistant("", [{ id: "call_7", name: "bash" }]));
		log.close();
		const check = { name: "sessions", action: "check" } as const;
		const one = await run({ ...check, target: log.id.slice(0, 8) }, { agentDir, cwd, json: true });
		expect(one.code).toBe(1);
		const text = "bash call call_7 has no result";
		const issue = { kind: "unanswered_call", line: 3, entryIndex: 2, text, callId: "call_7", toolName: "bash" };
		expect(JSON.parse(one.stdout)).toEqual([{ path: log.path, id: log.id, entries: 3, openIn: null, issues: [issue] }]);
		expect((await run(check, { agentDir, cwd })).stdout).toContain(`  line 3, entry 2: ${text}\n`);

		const repair = await run({ name: "sessions", action: "repair", target: log.id }, { agentDir, cwd, json: true });
		expect(repair.code).toBe(0);
		expect(JSON.parse(repair.stdout)).toEqual({ path: log.path, backup: `${log.path}.bak`, fixed: [issue], kept: [] });
		expect(await run(check, { agentDir, cwd })).toMatchObject({ code: 0, stderr: "" });
		const again = await run({ name: "sessions", action: "repair", target: log.id }, { agentDir, cwd });
		expect(again.stdout).toBe(`nothing to repair in ${log.path}\n`);
	});

	test("list an open session with its process, and refuse to repair it", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		const log = SessionLog.create({ dir: join(agentDir, "sessions", sessionDirName(cwd)), cwd });
		log.append(user("go"));
		const check = await run({ name: "sessions", action: "check" }, { agentDir, cwd });
		expect(check.code).toBe(0);
		expect(check.stdout).toContain(`  open in process ${process.pid}\n`);
		await expect(run({ name: "sessions", action: "repair", target: log.id }, { agentDir, cwd })).rejects.toMatchObject({
			code: "log_locked",
		});
		log.close();
	});

	test("a file in the tree format is named with the command that imports it", async () => {
		const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
		const dir = join(agentDir, "sessions", sessionDirName(cwd));
		mkdirSync(dir, { recursive: true });
		const path = join(dir, "2026-01-01T00-00-00-000Z_tree.jsonl");
		writeFileSync(path, `${JSON.stringify({ type: "session", version: 3, id: "tree", timestamp: "t", cwd })}\n`);
		const { code, stdout, stderr } = await run({ name: "sessions", action: "check" }, { agentDir, cwd });
		expect(code).toBe(1);
		expect(stdout).toContain("tree\n  line 1, entry 0: no header: it has session format version 3, not 1\n");
		expect(stderr).toBe(`pi sessions import ${path} makes a session of that file\n`);
	});
});
