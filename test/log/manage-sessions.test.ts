import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../src/log/catalog.js";
import { copySession, removeSession, renameSession, trashSession } from "../../src/log/manage-sessions.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { closing, fileWith, HEADER, pathOf, startProcess, tempDir, userMessage } from "./support.js";

test("deleting a session removes its journal and its index too, and deleting it again does not fail", () => {
	const path = fileWith(HEADER);
	for (const name of ["batch", "index"]) writeFileSync(`${path}.${name}`, "half a write");
	removeSession(path);
	expect(readdirSync(dirname(path))).toEqual([]);
	removeSession(path);
	expect(readdirSync(dirname(path))).toEqual([]);
});

test("a session goes to the trash with its journal removed, or stays as it is", async () => {
	const path = fileWith(HEADER);
	writeFileSync(`${path}.batch`, "half a write");
	expect(await trashSession(path, async () => "full")).toBe("full");
	expect(readdirSync(dirname(path)).sort()).toEqual([basename(path), `${basename(path)}.batch`]);
	const move = async (file: string) => {
		expect(isLocked(file)).toBe(true);
		renameSync(file, `${file}.trashed`);
		return null;
	};
	expect(await trashSession(path, move)).toBeNull();
	expect(readdirSync(dirname(path))).toEqual([`${basename(path)}.trashed`]);
});

test("a session that this pi has open cannot be deleted or renamed", async () => {
	const path = fileWith(HEADER);
	closing(SessionLog.open(path));
	expect(() => removeSession(path)).toThrow(expect.objectContaining({ code: "log_locked" }));
	await expect(trashSession(path, async () => null)).rejects.toMatchObject({ code: "log_locked" });
	await expect(renameSession(path, "x")).rejects.toMatchObject({ code: "log_locked" });
	expect(existsSync(path)).toBe(true);
});

test("deleting a session that another pi has open fails with the id of that process", async () => {
	const path = fileWith(HEADER);
	const other = startProcess(`
		const { SessionLog } = await load("session-log.ts");
		SessionLog.open(${JSON.stringify(path)});
		console.log("open");
		setInterval(() => {}, 1000);
	`);
	expect(await other.nextLine()).toBe("open");
	expect(() => removeSession(path)).toThrow(`is in use by process ${other.child.pid}`);
	expect(existsSync(path)).toBe(true);
});

test("renaming a session appends an entry and releases the lock", async () => {
	const path = fileWith(`${HEADER}${JSON.stringify(userMessage("hello"))}\n`);
	await renameSession(path, "greeting");
	const [summary] = await listSessions(dirname(path));
	expect(summary).toMatchObject({ name: "greeting", firstMessage: "hello" });
	const log = closing(SessionLog.open(path));
	expect(log.entries.map(({ type }) => type)).toEqual(["session", "message", "session_info"]);
});

test("the sessions that hooks started are deleted and moved to the trash with their session", async () => {
	const addChild = (path: string) => {
		const children = path.replace(".jsonl", ".agents");
		mkdirSync(children);
		writeFileSync(join(children, "a.jsonl"), HEADER);
		return children;
	};
	const path = fileWith(HEADER);
	addChild(path);
	removeSession(path);
	expect(readdirSync(dirname(path))).toEqual([]);
	writeFileSync(path, HEADER);
	const moved: string[] = [];
	const trash = async (file: string) => {
		moved.push(file);
		return null;
	};
	await trashSession(path, trash);
	expect(moved.splice(0)).toEqual([path]);
	const children = addChild(path);
	await trashSession(path, trash);
	expect(moved).toEqual([path, children]);
	expect(isLocked(path)).toBe(false);
});

test("a session that cannot be deleted is unchanged and unlocked, and the error names it", () => {
	const path = fileWith("");
	const folder = join(dirname(path), "folder.jsonl");
	mkdirSync(folder);
	expect(() => removeSession(folder)).toThrow(
		expect.objectContaining({ code: "log_write_failed", message: `Cannot delete ${folder}` }),
	);
	expect([existsSync(folder), isLocked(folder)]).toEqual([true, false]);
});

test("a session is unlocked after it was deleted, refused by the trash, or the trash failed", async () => {
	const path = fileWith(HEADER);
	await trashSession(path, async () => "full");
	expect(isLocked(path)).toBe(false);
	await expect(trashSession(path, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
	expect([isLocked(path), existsSync(path)]).toEqual([false, true]);
	removeSession(path);
	expect(isLocked(path)).toBe(false);
});

test("a session that cannot be written is not renamed, and is unlocked", async () => {
	const path = fileWith("{}\n");
	await expect(renameSession(path, "x")).rejects.toMatchObject({ code: "log_not_a_session" });
	expect(isLocked(path)).toBe(false);
});

test("a copy has all entries and names its source, which another process may have open", async () => {
	const path = fileWith(`${HEADER}${JSON.stringify(userMessage("hello"))}\n`);
	const open = closing(SessionLog.open(path));
	const copy = closing(copySession(path, tempDir()));
	expect(copy.entries.slice(1)).toEqual([userMessage("hello")]);
	expect(copy.header).toMatchObject({ branchedFrom: path });
	expect(copy.id).not.toBe(open.id);
	expect(pathOf(copy)).not.toBe(path);
});
