import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isSystemItemEntry, type SessionEntry } from "../../../src/log/entry.js";
import { toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

const FILES = {
	"AGENTS.md": "root rules",
	"api/AGENTS.md": "api rules\nsecond line",
	"api/v1/CLAUDE.md": "v1 rules",
	"api/v1/index.ts": "export {};",
	"web/AGENTS.md": "web rules",
	"web/index.ts": "export {};",
};

/** The context files that entries added, as `path: text`, relative to the project. */
function added(entries: readonly SessionEntry[], cwd: string): string[] {
	return entries.flatMap((entry) => {
		if (!isSystemItemEntry(entry) || entry.item.kind !== "context_file") return [];
		const { text, changed } = entry.item;
		return [`${entry.source.replace(`${cwd}/`, "")}: ${text}${changed ? " (changed)" : ""}`];
	});
}

/** Runs a prompt whose reply calls a tool, and returns what the next request added. */
async function call({ session, provider, cwd }: TestSession, name: string, args: Record<string, unknown>) {
	const from = session.entries.length;
	provider.reply([toolCall(name, args)], "done");
	await session.prompt("go");
	return added(session.entries.slice(from), cwd);
}

const V1 = ["api/AGENTS.md: api rules\nsecond line", "api/v1/CLAUDE.md: v1 rules"];

describe("a context file below the working directory", () => {
	test("joins once, before the next request, when a tool first reaches its directory", async () => {
		const started = await startSession({ files: FILES });
		expect(await call(started, "read", { path: "api/v1/index.ts" })).toEqual(V1);
		const { session, cwd } = started;
		expect(started.sent(2).slice(2)).toEqual([
			expect.stringMatching(/^tool: /),
			expect.stringMatching(
				/^user: <context_file path="[^"]*\/api\/AGENTS\.md">\napi rules\nsecond line\n<\/context_file>\n/,
			),
			expect.stringMatching(/^user: <context_file path="[^"]*\/api\/v1\/CLAUDE\.md">\nv1 rules\n<\/context_file>\n/),
		]);
		expect(await call(started, "read", { path: "api/v1/index.ts" })).toEqual([]);
		expect(await call(started, "read", { path: "AGENTS.md" })).toEqual([]);
		await session.rebuildContext();
		const origins = session.context.messages.filter(({ origin }) => origin.kind === "system_item");
		expect(origins.map(({ entryIndex }) => entryIndex)).toEqual([4, 5]);
		expect(added(session.entries, cwd)).toEqual(V1);
	});

	test.each([
		["ls", { path: "web" }],
		["find", { pattern: "*.ts", path: "web" }],
		["grep", { pattern: "export", path: "web" }],
		["write", { path: "web/new/a.ts", content: "x" }],
		["edit", { path: "web/index.ts", oldText: "{}", newText: "{ }" }],
		["read", { path: "web/missing.ts" }],
	])("is added by %s with %j", async (name, args) => {
		expect(await call(await startSession({ files: FILES }), name, args)).toEqual(["web/AGENTS.md: web rules"]);
	});

	test("is not added by bash or by calls that a hook blocks", async () => {
		const block = `export default (pi) => pi.on("tool_call", (event) => event.toolName === "read" ? { block: true, reason: "no" } : undefined);`;
		const started = await startSession({ files: FILES, hooks: { "block.ts": block } });
		expect(await call(started, "read", { path: "web/index.ts" })).toEqual([]);
		expect(await call(started, "bash", { command: "cat web/index.ts" })).toEqual([]);
	});

	test("is added once by parallel calls", async () => {
		const started = await startSession({ files: FILES });
		started.provider.reply([toolCall("ls", { path: "web" }), toolCall("read", { path: "web/index.ts" })], "done");
		await started.session.prompt("go");
		expect(added(started.session.entries, started.cwd)).toEqual(["web/AGENTS.md: web rules"]);
	});

	test("outside the project, in node_modules or in .git is not added, also through links", async () => {
		const outside = tempDir();
		writeFiles(outside, { "AGENTS.md": "outside", "a.ts": "" });
		const started = await startSession({
			files: {
				"node_modules/x/AGENTS.md": "package",
				"node_modules/x/a.ts": "",
				".git/AGENTS.md": "git",
				".git/HEAD": "ref: x",
				"packages/x/AGENTS.md": "linked package",
				"linked/a.ts": "",
			},
		});
		const { cwd } = started;
		symlinkSync(outside, join(cwd, "out"));
		symlinkSync(join(outside, "AGENTS.md"), join(cwd, "linked/AGENTS.md"));
		symlinkSync("../packages/x", join(cwd, "node_modules/y"));
		for (const path of [
			"node_modules/x/a.ts",
			".git/HEAD",
			"out/a.ts",
			join(outside, "a.ts"),
			"linked/a.ts",
			"linked",
		]) {
			expect(await call(started, "read", { path })).toEqual([]);
		}
		expect(started.notices()).toEqual([
			`${cwd}/linked/AGENTS.md: ignored, because it is a link to a file outside the project`,
		]);
		expect(await call(started, "ls", { path: "node_modules/y" })).toEqual(["packages/x/AGENTS.md: linked package"]);
	});

	test("is added in the rest of the repository, not in parents of the working directory", async () => {
		const root = tempDir();
		writeFiles(root, { ".git/HEAD": "", "AGENTS.md": "root", "a/AGENTS.md": "a", "b/AGENTS.md": "b", "a/x.ts": "" });
		const started = await startSession({ cwd: join(root, "a") });
		const path = join(root, "b");
		expect(await call(started, "ls", { path })).toEqual([`${path}/AGENTS.md: b`]);
		expect(await call(started, "ls", { path: ".." })).toEqual([]);
	});

	test("that is too large or cannot be read is named in a notice, once", async () => {
		const started = await startSession({ files: { "big/AGENTS.md": "x".repeat(1024 * 1024 + 1), "big/a": "" } });
		expect(await call(started, "ls", { path: "big" })).toEqual([]);
		expect(await call(started, "read", { path: "big/a" })).toEqual([]);
		expect(started.notices()).toEqual([
			expect.stringMatching(/^Cannot read .*\/big\/AGENTS\.md: 1048577 bytes is more than the limit of 1048576$/),
		]);
	});

	test("is ignored with --no-context-files", async () => {
		const started = await startSession({ files: FILES, contextFiles: false });
		expect(await call(started, "ls", { path: "web" })).toEqual([]);
	});

	test("is in the session after a resume, and a new session gets it again", async () => {
		const place = { agentDir: tempAgentDir(), sessionDir: tempDir(), cwd: tempDir("pi-project-") };
		const first = await startSession({ ...place, files: FILES, session: { kind: "new" } });
		expect(await call(first, "ls", { path: "web" })).toHaveLength(1);
		await first.session.dispose();
		const second = await startSession({ ...place, session: { kind: "continue" } });
		expect(await call(second, "read", { path: "web/index.ts" })).toEqual([]);
		expect(second.sent(1).join("\n")).toContain("web rules");
		await second.session.prompt("/new");
		expect(await call(second, "read", { path: "web/index.ts" })).toEqual(["web/AGENTS.md: web rules"]);
	});

	test("that changed joins once more after /reload and after a resume, with a note", async () => {
		const place = { agentDir: tempAgentDir(), sessionDir: tempDir(), cwd: tempDir("pi-project-") };
		const started = await startSession({ ...place, files: FILES, session: { kind: "new" } });
		await call(started, "ls", { path: "api/v1" });
		writeFileSync(join(place.cwd, "api/AGENTS.md"), "newer api rules");
		expect(await call(started, "ls", { path: "api/v1" })).toEqual([]);
		await started.session.prompt("/reload");
		expect(await call(started, "ls", {})).toEqual(["api/AGENTS.md: newer api rules (changed)"]);
		expect(started.sent(5).join("\n")).toContain(
			'/api/AGENTS.md" changed="since you received it">\nnewer api rules\n</context_file>',
		);
		await started.session.prompt("/reload");
		expect(await call(started, "ls", { path: "api/v1" })).toEqual([]);
		await started.session.dispose();
		writeFileSync(join(place.cwd, "api/AGENTS.md"), "newest");
		rmSync(join(place.cwd, "api/v1"), { recursive: true });
		const second = await startSession({ ...place, session: { kind: "continue" } });
		expect(await call(second, "ls", {})).toEqual(["api/AGENTS.md: newest (changed)"]);
	});

	test("that a summary has replaced joins again when a tool reaches its directory", async () => {
		const started = await startSession({
			files: FILES,
			userSettings: { compaction: { keepRecentTokens: 1 } },
		});
		await call(started, "ls", { path: "web" });
		await call(started, "ls", {});
		started.provider.reply("The summary.");
		await started.session.prompt("/compact");
		expect(started.session.context.hidden.length).toBeGreaterThan(4);
		expect(await call(started, "ls", {})).toEqual([]);
		expect(await call(started, "ls", { path: "web" })).toEqual(["web/AGENTS.md: web rules"]);
	});

	test("is not read for a session that is left before its next request", async () => {
		const started = await startSession({ files: FILES });
		const { session, provider, cwd } = started;
		provider.reply([toolCall("ls", { path: "web" })]);
		session.subscribe((event) => {
			if (event.type === "tool_execution_end") void session.abort();
		});
		await session.prompt("go");
		await session.prompt("/new");
		provider.reply("hello");
		await session.prompt("again");
		expect(added(session.entries, cwd)).toEqual([]);
	});
});

test("a home directory under version control is not one project", async () => {
	const home = tempDir("pi-home-");
	mkdirSync(join(home, ".git"));
	writeFiles(home, { "shop/a.ts": "", "other/AGENTS.md": "other", "other/a.ts": "" });
	const { findNestedContextFiles } = await import("../../../src/resources/find-nested-files.js");
	const source = { cwd: join(home, "shop"), home, loaded: [] };
	expect((await findNestedContextFiles([join(home, "other/a.ts")], source)).files).toEqual([]);
	expect((await findNestedContextFiles([join(home, "other/a.ts")], { ...source, cwd: home })).files).toHaveLength(1);
});
