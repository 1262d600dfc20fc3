import { expect, test } from "vitest";
import {
	sessionDirName,
	sessionFileName,
	sessionIdOfName,
	sessionTimeOfName,
	subSessionsDir,
} from "../../src/log/session-paths.js";

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

test.each([
	[194, 0],
	[195, 0],
	[196, 0],
	[197, 19],
])("a path of %i bytes has a name of at most 200 bytes, truncated only beyond that", (length, hash) => {
	const name = sessionDirName(`/${"x".repeat(length)}`);
	expect(/-[0-9a-f]{16}--$/.exec(name)?.[0].length ?? 0).toBe(hash);
	expect(name.length).toBe(hash === 0 ? length + 4 : 2 + 150 + 1 + 16 + 2);
});

test.each<[string, string | undefined]>([
	["2026-01-02T03-04-05-678Z_ab.jsonl", "2026-01-02T03:04:05.678Z"],
	["x2026-01-02T03-04-05-678Z_ab.jsonl", undefined],
	["2026-01-02T03-04-05-678Zab.jsonl", undefined],
	["2026-01-02T03-04-05Z_ab.jsonl", undefined],
	["ab.jsonl", undefined],
])("the start of the session in %s is %s", (name, time) => {
	expect(sessionTimeOfName(name)).toBe(time);
});

test.each<[string, string | undefined]>([
	["t_ab.jsonl", "ab"],
	["a_b_cd.jsonl", "cd"],
	["t_/ab.jsonl", undefined],
	["t_ab.jsonl.lock", undefined],
	["t_ab.json", undefined],
	["t_.jsonl", undefined],
])("the session id in %s is %s", (name, id) => {
	expect(sessionIdOfName(name)).toBe(id);
});

test("the sessions that hooks started are in a directory next to the session", () => {
	expect(subSessionsDir("/s/x.jsonl")).toBe("/s/x.agents");
	expect(subSessionsDir("/s/x")).toBe("/s/x.agents");
});
