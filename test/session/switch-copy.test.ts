import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { tempDir } from "../helpers/temp.js";

const KEEP = `export default (pi) =>
	pi.on("session", (event) => (event.reason === "before_switch" ? { cancel: true } : undefined));`;

test("a switch to a copy that a hook cancels removes the copy", async () => {
	const sessionDir = tempDir();
	const other = await startSession({ sessionDir, session: { kind: "new" } });
	other.provider.reply("hello");
	await other.session.prompt("hi");
	const path = other.session.sessionFile ?? "";
	const { session } = await startSession({ sessionDir, session: { kind: "new" }, hooks: { "keep.ts": KEEP } });
	const files = () => readdirSync(dirname(path)).filter((name) => name.endsWith(".jsonl"));
	const before = files();
	expect(await session.switchSession(path, "copy")).toBe(false);
	expect(files()).toEqual(before);
	expect(session.entries).toHaveLength(1);
});
