import { expect, test } from "vitest";
import { sessionDirName, sessionFileName, sessionIdOfName } from "../../src/log/session-paths.js";

test.each([
	["/home/me/project", "--home-me-project--"],
	["/", "----"],
	["C:\\work\\a b", "--C--work-a b--"],
	["/tmp/ü:x", "--tmp-ü-x--"],
])("sessions of %s are in %s", (cwd, name) => {
	expect(sessionDirName(cwd)).toBe(name);
});

test("the name for a very long path fits a file name, splits no character and is unique", () => {
	const name = sessionDirName(`/${"ü".repeat(300)}`);
	expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
	expect(name).toMatch(/^--ü{75}-[0-9a-f]{16}--$/);
	expect(sessionDirName(`/${"ü".repeat(301)}`)).not.toBe(name);
});

test("a file is named after its time and id", () => {
	const name = sessionFileName(new Date("2026-01-02T03:04:05.678Z"), "ab-cd");
	expect(name).toBe("2026-01-02T03-04-05-678Z_ab-cd.jsonl");
	expect(sessionIdOfName(`/somewhere/${name}`)).toBe("ab-cd");
	expect(sessionIdOfName("notes.jsonl")).toBeUndefined();
});
