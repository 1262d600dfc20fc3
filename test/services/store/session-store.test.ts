import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSessionStore } from "../../../src/services/store/session-store.js";
import { tempDir } from "../../helpers/temp.js";
import { CWD, claudeLines, said, typed, write } from "../../imports/support.js";

test("opening a session of another program says what was left out, or that it was continued there since", async () => {
	const home = tempDir();
	const path = write(
		join(home, ".claude/projects/-home-ada-shop/c-1.jsonl"),
		`${claudeLines(typed("Fix it"), { type: "progress" }, said("m1", { type: "text", text: "Done." }))}{"type":"us\n`,
	);
	const dir = join(home, "sessions");
	const store = createSessionStore({
		costs: async () => new Map(),
		...{ dir, root: home, cwd: CWD, elsewhere: { home, env: {} } },
		current: () => null,
		setName: () => {},
	});
	const adopt = async () => {
		for await (const [session] of store.list("elsewhere")) if (session) return store.adopt(session.path);
		throw new Error("no session is listed");
	};
	const made = await adopt();
	expect(made.note).toBe(
		"Imported 2 entries from Claude Code · omitted: progress lines (1) · skipped: 1 line that cannot be read",
	);
	expect(await adopt()).toEqual({ path: made.path, note: "Imported before from Claude Code" });
	const later = Date.now() / 1000 + 60;
	utimesSync(path, later, later);
	expect(await adopt()).toEqual({
		path: made.path,
		note: "Imported before from Claude Code, and continued there since: pi sessions import c-1 --again imports it as it is now",
	});
});
