import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runExport } from "../../src/cli/export.js";
import type { ExportFormat } from "../../src/export/formats.js";
import { SessionLog } from "../../src/log/session-log.js";
import { sessionDirName } from "../../src/log/session-paths.js";
import { assistant, compaction, user } from "../helpers/entries.js";
import { recordIO } from "../helpers/record-io.js";
import { tempAgentDir, tempDir } from "../helpers/temp.js";
import { run } from "./subcommands/run.js";

describe("pi --export", () => {
	test("writes one private file, prints its path and does not change the session", async () => {
		const cwd = tempDir();
		const log = SessionLog.create({ dir: join(cwd, "sessions"), cwd });
		for (const entry of [user("question"), assistant("answer"), compaction(2, "short"), user("more")])
			log.append(entry);
		log.close();
		const before = readFileSync(log.path ?? "");
		const io = recordIO();
		const place = { env: { PI_CODING_AGENT_DIR: tempAgentDir() }, cwd, home: cwd };
		const code = await runExport({ file: log.path ?? "", out: "out.html" }, {}, place, io);
		expect(code).toBe(0);
		expect(io.stdout()).toBe(`${join(cwd, "out.html")}\n`);
		const html = readFileSync(join(cwd, "out.html"), "utf8");
		expect(html).toMatch(/<section id="entry-1" class="hidden">.*question/);
		expect(html).toMatch(/<section id="entry-4">.*more/);
		expect(statSync(join(cwd, "out.html")).mode & 0o777).toBe(0o600);
		expect(readFileSync(log.path ?? "")).toEqual(before);

		await runExport({ file: log.id.slice(0, 8) }, { sessionDir: "sessions" }, place, io);
		expect(io.stdout()).toMatch(/pi-session-[\w-]+\.html\n$/);
	});

	test("never replaces a file that is not HTML, such as the session itself", async () => {
		const cwd = tempDir();
		const place = { env: { PI_CODING_AGENT_DIR: tempAgentDir() }, cwd, home: cwd };
		const log = SessionLog.create({ dir: cwd, cwd });
		log.append(user("x"));
		log.close();
		const source = log.path ?? "";
		const before = readFileSync(source);
		await expect(runExport({ file: source, out: source }, {}, place, recordIO())).rejects.toThrow(
			`${source} exists and is not a page that pi has exported`,
		);
		expect(readFileSync(source)).toEqual(before);
		writeFileSync(join(cwd, "index.html"), "<!doctype html><title>Mine</title>");
		await expect(runExport({ file: source, out: "index.html" }, {}, place, recordIO())).rejects.toThrow(
			"index.html exists and is not a page that pi has exported",
		);
		for (let count = 0; count < 2; count++) {
			expect(await runExport({ file: source, out: "again.HTML" }, {}, place, recordIO())).toBe(0);
		}
	});

	test("names files that cannot be read or written", async () => {
		const cwd = tempDir();
		const place = { env: { PI_CODING_AGENT_DIR: tempAgentDir() }, cwd, home: cwd };
		await expect(runExport({ file: "./none.jsonl" }, {}, place, recordIO())).rejects.toThrow(
			"There is no session file",
		);
		const log = SessionLog.create({ dir: cwd, cwd });
		log.append(user("x"));
		log.close();
		await expect(runExport({ file: log.path ?? "", out: "no/dir/x.html" }, {}, place, recordIO())).rejects.toThrow(
			`Cannot write ${join(cwd, "no/dir/x.html")}`,
		);
	});
});

describe("pi sessions export", () => {
	test("the name of the file or --format chooses the format, and - writes to stdout", async () => {
		const { agentDir, cwd } = await run({ name: "sessions", action: "list" });
		const dir = join(agentDir, "sessions", sessionDirName(cwd));
		const log = SessionLog.create({ dir, cwd });
		for (const entry of [user("question"), assistant("answer")]) log.append(entry);
		log.close();
		const exporting = async (more: { out?: string; format?: ExportFormat }) =>
			(await run({ name: "sessions", action: "export", target: log.id.slice(0, 8), ...more }, { agentDir, cwd }))
				.stdout;
		expect(await exporting({ out: "-", format: "markdown" })).toMatch(
			/^# .*\n\n## User\n\nquestion\n\n## Assistant\n\nanswer\n$/,
		);
		expect(await exporting({ out: "notes.md" })).toBe(`${join(cwd, "notes.md")}\n`);
		expect(readFileSync(join(cwd, "notes.md"), "utf8")).toContain("## User");
		expect(await exporting({ format: "claude" })).toMatch(/pi-session-[^/]+\.jsonl\n$/);
		expect(JSON.parse(await exporting({ out: "-", format: "atif" }))).toMatchObject({ session_id: log.id });
		expect(await exporting({})).toMatch(/\.html\n$/);
	});
});
