import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { earlierImports, importKey, importSession } from "../../src/imports/import-session.js";
import { findSessions, programNamed, sessionsAt } from "../../src/imports/programs.js";
import { checkSession } from "../../src/log/check-session.js";
import { SessionLog } from "../../src/log/session-log.js";
import { tempDir } from "../log/support.js";
import { CWD, claudeLines, lines, placeIn, typed, write } from "./support.js";

test("sessions of this directory are found where each program keeps them, newest first", async () => {
	const home = tempDir();
	const claude = claudeLines(typed("Fix it"));
	write(join(home, ".claude/projects/-home-ada-shop/c-1.jsonl"), claude);
	write(join(home, ".claude/projects/-home-ada-shop/agent-1.jsonl"), claude);
	write(join(home, ".claude/projects/-home-ada-other/c-2.jsonl"), claude);
	const meta = (id: string, cwd: string) => lines({ type: "session_meta", payload: { id, cwd } }, {});
	write(join(home, ".codex/sessions/2026/01/01/rollout-a.jsonl"), meta("here", CWD));
	write(join(home, ".codex/sessions/2026/01/01/rollout-b.jsonl"), meta("there", "/elsewhere"));
	const hash = createHash("sha256").update(CWD).digest("hex");
	const gemini = (sessionId: string) => JSON.stringify({ sessionId, projectHash: hash, messages: [] });
	write(join(home, `.gemini/tmp/${hash}/chats/session-1.json`), gemini("hashed"));
	write(join(home, ".gemini/tmp/shop/.project_root"), CWD);
	write(join(home, ".gemini/tmp/shop/chats/session-2.json"), gemini("named"));
	write(join(home, "sessions/old.jsonl"), lines({ type: "session", version: 3, id: "tree", cwd: CWD }));
	const found = await findSessions(placeIn(home));
	expect(found.map(({ program, id }) => `${program} ${id}`).sort()).toEqual([
		...["claude c-1", "codex here", "gemini hashed", "gemini named", "pi tree"],
	]);
	expect(await findSessions(placeIn(home), programNamed("codex"))).toMatchObject([{ id: "here" }]);
	expect(await findSessions(placeIn(tempDir()))).toEqual([]);
	expect(() => programNamed("cursor")).toThrow("pi knows pi, claude, codex, opencode, gemini, aider");
});

test("an import is known again by its program and id, also when the file was moved", async () => {
	const dir = tempDir();
	const sessions = join(dir, "sessions");
	const [found] = sessionsAt(write(join(dir, "c-1.jsonl"), claudeLines(typed("Fix it")))).sessions;
	const made = await importSession(found as never, { dir: sessions, cwd: "/here" });
	expect(earlierImports(sessions).get(importKey({ program: "claude", id: "c-1" }))?.path).toBe(made.path);
});

test("a directory holds all sessions below it; a file of no program is refused", () => {
	const dir = tempDir();
	write(join(dir, "a/c-1.jsonl"), claudeLines(typed("Fix it")));
	write(join(dir, "package.json"), "{}");
	expect(sessionsAt(dir)).toMatchObject({ sessions: [{ program: "claude" }], isDirectory: true, otherFiles: 1 });
	const refused = (path: string, code: string) =>
		expect(() => sessionsAt(path)).toThrow(expect.objectContaining({ code }));
	refused(join(dir, "package.json"), "log_not_a_session");
	refused(join(dir, "none.jsonl"), "log_not_found");
	refused(tempDir(), "log_not_a_session");
});

test("whatever is in the lines of a known file, an import is legal or refused with a reason", async () => {
	const value = fc.jsonValue({ maxDepth: 3 });
	const part = fc.oneof(
		value,
		fc.record({
			type: fc.constantFrom("user", "assistant", "system", "response_item", "event_msg", "compacted", "gemini"),
			uuid: value,
			payload: value,
			message: fc.oneof(
				value,
				fc.record({
					id: value,
					content: fc.array(
						fc.record({
							type: fc.constantFrom("text", "tool_use", "tool_result", "thinking", "image"),
							text: value,
							id: value,
							name: value,
							input: value,
							content: value,
							tool_use_id: value,
						}),
					),
				}),
			),
			content: value,
			toolCalls: value,
			id: value,
			timestamp: value,
		}),
	);
	const heads = [
		claudeLines(typed("Fix it")),
		lines({ type: "session_meta", payload: { id: "x", cwd: CWD } }),
		lines({ sessionId: "g", projectHash: "h" }),
	];
	const dir = tempDir();
	let count = 0;
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...heads), fc.array(part, { maxLength: 8 }), async (head, parts) => {
			const path = write(join(dir, `${count++}.jsonl`), head + lines(...parts.map((each) => JSON.stringify(each))));
			const [found] = sessionsAt(path).sessions;
			if (!found) return;
			const made = await importSession(found, { dir: join(dir, "s"), cwd: "/" }).catch((error) => {
				expect(error).toMatchObject({ code: "log_not_a_session" });
			});
			if (!made) return;
			const log = SessionLog.open(made.path, { readOnly: true });
			expect((await buildContext(log.entries, [])).problems).toEqual([]);
			log.close();
			expect(checkSession(made.path).issues).toEqual([]);
		}),
		{ numRuns: 150 },
	);
});
