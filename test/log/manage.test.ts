import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { listSessions } from "../../src/log/catalog.js";
import { removeSession, renameSession, trashSession } from "../../src/log/manage.js";
import { SessionLog } from "../../src/log/session-log.js";
import { isLocked } from "../../src/util/file-lock.js";
import { closing, fileWith, HEADER, startProcess, userMessage } from "./support.js";

test("deleting a session removes its journal too, and deleting it again does not fail", () => {
	const path = fileWith(HEADER);
	writeFileSync(`${path}.batch`, "half a write");
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
