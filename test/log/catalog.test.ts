import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { PiError } from "../../src/errors.js";
import {
	findSession,
	latestSession,
	listSessions,
	newestFirst,
	newSessionPath,
	sessionDirs,
	sessionFiles,
	sessionsByUse,
	summarizeSession,
} from "../../src/log/catalog.js";
import { searchSessions } from "../../src/log/search.js";
import { acquireLock } from "../../src/util/file-lock.js";
import { assistantMessage } from "../helpers/entries.js";
import { tempDir } from "./support.js";

interface Sample {
	id: string;
	/** Seconds since the epoch. */
	at: number;
	lines?: readonly unknown[];
}

function addSession(dir: string, { id, at, lines = [] }: Sample): string {
	const path = join(dir, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
	const header = { type: "session", version: 1, id, timestamp: "t", cwd: "/" };
	const text = [header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
	writeFileSync(path, `${text}\n`);
	utimesSync(path, at, at);
	return path;
}

const message = (content: unknown, role = "user") => ({
	type: "message",
	timestamp: "t",
	message: { role, content, timestamp: 1 },
});
const named = (name: string) => ({ type: "session_info", timestamp: "t", name });
const padding = (bytes: number) => ({ type: "pad", text: "p".repeat(bytes) });

async function hits(dir: string, text: string): Promise<{ path: string; excerpt: string }[]> {
	const found = [];
	for await (const hit of searchSessions(dir, text)) found.push(hit);
	return found;
}

test("sessions are listed newest first with name, first message and count", async () => {
	const dir = tempDir();
	const a = addSession(dir, {
		id: "a",
		at: 100,
		lines: [
			named("old"),
			message([{ type: "text", text: "  first\n\u001b[31mthing " }]),
			message("second"),
			named("new"),
		],
	});
	const b = addSession(dir, { id: "b", at: 300, lines: ["damaged {", message("x".repeat(500), "assistant")] });
	const c = addSession(dir, { id: "c", at: 200, lines: [message("x".repeat(500)), named("gone"), named("")] });
	writeFileSync(join(dir, "notes.txt"), "not a session");
	writeFileSync(join(dir, "other.jsonl"), "{}\n");
	writeFileSync(join(dir, "empty.jsonl"), "");
	mkdirSync(join(dir, "dir.jsonl"));
	const bytes = (path: string) => ({ cwd: "/", bytes: statSync(path).size });
	expect(await listSessions(dir)).toEqual([
		{ path: b, id: "b", name: null, firstMessage: "", modifiedAt: 300_000, messageCount: 1, ...bytes(b) },
		{
			...{ path: c, id: "c", name: null, firstMessage: `${"x".repeat(199)}…`, modifiedAt: 200_000 },
			...{ messageCount: 1, ...bytes(c) },
		},
		{
			...{ path: a, id: "a", name: "new", firstMessage: "first [31mthing", modifiedAt: 100_000 },
			...{ messageCount: 2, ...bytes(a) },
		},
	]);
	expect(await listSessions(join(dir, "none"))).toEqual([]);
});

test("a name in the middle of a large session, its count and a huge first message are found", async () => {
	const dir = tempDir();
	const messages = Array.from({ length: 30 }, (_, n) => message(`${n}${"m".repeat(100_003 * (n % 4))}`));
	addSession(dir, {
		id: "a",
		at: 1,
		lines: [padding(70_000), ...messages, named("middle"), padding(2_000_000), message("end")],
	});
	addSession(dir, { id: "b", at: 2, lines: [message([{ type: "text", text: `huge "one" ${"h".repeat(400_000)}` }])] });
	addSession(dir, {
		id: "c",
		at: 3,
		lines: [message('a text that quotes "type":"session_info" and {"type":"message"')],
	});
	const list = await listSessions(dir);
	expect(list.map(({ id, name, messageCount }) => [id, name, messageCount])).toEqual([
		["c", null, 1],
		["b", null, 1],
		["a", "middle", 31],
	]);
	expect(list[1]?.firstMessage).toMatch(/^huge "one" h+…$/);
	expect(list[2]?.firstMessage).toBe("0");
});

// Slow for mutation tests, where session-summary.test.ts has the same with a smaller budget.
test.skipIf(process.env.PI_MUTATION_PART)(
	"a session beyond the scan budget gets its name from head and tail, and no message count",
	async () => {
		const dir = tempDir();
		const big = Array.from({ length: 17 }, () => padding(4_000_000));
		addSession(dir, { id: "tail", at: 1, lines: [message("hi"), ...big, named("at the end")] });
		addSession(dir, { id: "head", at: 2, lines: [named("at the start"), ...big] });
		expect((await listSessions(dir)).map(({ name, messageCount }) => [name, messageCount])).toEqual([
			["at the start", null],
			["at the end", null],
		]);
	},
);

test("a session is found by path, file name, id and the start of its id", () => {
	const dir = tempDir();
	const a = addSession(dir, { id: "abc-1", at: 1 });
	const b = addSession(dir, { id: "abd-2", at: 2 });
	const renamed = join(dir, "mine.jsonl");
	writeFileSync(renamed, '{"type":"session","id":"zz9","cwd":"/"}\n');
	for (const [wanted, path] of [
		[a, a],
		["2026-01-01T00-00-00-000Z_abc-1.jsonl", a],
		["abc-1", a],
		["ABD", b],
		["abc", a],
		["zz", renamed],
	] as const) {
		expect(findSession(dir, wanted)).toBe(path);
	}
});

test.each([
	["ab", "2 session ids begin with", "use more characters of the id: abc-1, abd-2"],
	["abx", 'There is no session "abx"', "did you mean abc-1 or abd-2?"],
	["", "There is no session", "`pi sessions list` shows all sessions"],
	["q", 'There is no session "q"', "`pi sessions list` shows all sessions"],
	["none/x.jsonl", "There is no session file none/x.jsonl", "`pi sessions list` shows all sessions"],
])("an unknown or ambiguous session %j fails with a hint", (wanted, message, hint) => {
	const dir = tempDir();
	addSession(dir, { id: "abc-1", at: 1 });
	addSession(dir, { id: "abd-2", at: 2 });
	expect(() => findSession(dir, wanted)).toThrow(
		expect.objectContaining({ code: "log_not_found", message: expect.stringContaining(message), hint }),
	);
});

test("a path in an existing directory names a new session; an id and an existing file do not", () => {
	const dir = tempDir();
	const a = addSession(dir, { id: "abc-1", at: 1 });
	const path = join(dir, "new.jsonl");
	expect(newSessionPath(tempDir(), path)).toBe(path);
	expect(newSessionPath(dir, join(dir, "notes"))).toBe(join(dir, "notes"));
	expect(newSessionPath(dir, "new.jsonl")).toBe(resolve("new.jsonl"));
	for (const other of [a, basename(a), "abc", "new", join(dir, "none", "new.jsonl"), `${dir}/new/`]) {
		expect(newSessionPath(dir, other)).toBeNull();
	}
	// A file in the session directory is found by its name alone, not by another path with the same name.
	expect(newSessionPath(dir, `./${basename(a)}`)).toBe(resolve(basename(a)));
});

test("the latest session is the newest one that is not locked", () => {
	const dir = tempDir();
	expect(latestSession(dir)).toBeNull();
	const lines = [message("hi")];
	const a = addSession(dir, { id: "a", at: 1, lines });
	const b = addSession(dir, { id: "b", at: 2, lines });
	writeFileSync(join(dir, "foreign.jsonl"), "{}");
	expect(latestSession(dir)).toBe(b);
	const lock = acquireLock(b);
	expect(latestSession(dir)).toBe(a);
	lock.release();
	expect(latestSession(dir)).toBe(b);
});

const prompt = (seconds: number, mode?: string) => ({
	...message(`at ${seconds}`),
	timestamp: new Date(seconds * 1000).toISOString(),
	...(mode && { mode }),
});

test("sessions are continued in the order of their last use, those of print mode after the others", () => {
	const dir = tempDir();
	const opened = addSession(dir, { id: "opened", at: 900, lines: [prompt(100), named("seen")] });
	const used = addSession(dir, { id: "used", at: 300, lines: [prompt(200), prompt(290)] });
	const mixed = addSession(dir, { id: "mixed", at: 800, lines: [prompt(150), padding(70_000), prompt(790, "print")] });
	const adopted = addSession(dir, { id: "adopted", at: 280, lines: [prompt(10, "print"), prompt(250)] });
	const printed = addSession(dir, { id: "printed", at: 850, lines: [prompt(840, "print"), prompt(845, "json")] });
	const shell = addSession(dir, {
		id: "shell",
		at: 50,
		lines: [
			{
				type: "message",
				timestamp: new Date(20_000).toISOString(),
				message: { role: "bashExecution", command: "ls", output: "", exitCode: 0, timestamp: 1 },
			},
		],
	});
	const sent = addSession(dir, {
		id: "sent",
		at: 40,
		lines: [{ type: "message", timestamp: new Date(30_000).toISOString(), message: assistantMessage("on my own") }],
	});
	addSession(dir, { id: "empty", at: 950 });
	addSession(dir, { id: "named", at: 951, lines: [named("for later")] });
	addSession(dir, { id: "custom", at: 952, lines: [{ type: "todo", text: '{"type":"message"}' }, { type: "todo" }] });
	addSession(dir, {
		id: "model",
		at: 953,
		lines: [{ type: "model_change", timestamp: new Date(9000).toISOString(), provider: "a", modelId: "b" }],
	});
	expect([...sessionsByUse(dir)]).toEqual([used, adopted, mixed, opened, shell, printed, sent]);
	expect([...sessionsByUse(dir, { withPrinted: true })]).toEqual([printed, mixed, used, adopted, opened, shell, sent]);
	expect([latestSession(dir), latestSession(dir, { withPrinted: true })]).toEqual([used, printed]);
});

test("a list marks the sessions whose first and last prompt came from print mode", async () => {
	const dir = tempDir();
	addSession(dir, { id: "a", at: 1, lines: [prompt(1, "print"), prompt(2, "json")] });
	addSession(dir, { id: "b", at: 2, lines: [prompt(1, "print"), prompt(2)] });
	addSession(dir, { id: "c", at: 3, lines: [prompt(1), prompt(2, "print")] });
	addSession(dir, { id: "d", at: 4, lines: [prompt(1, "print"), padding(200_000), prompt(2)] });
	const marked = async (scanBytes?: number) => {
		const list = await listSessions(dir, scanBytes === undefined ? {} : { scanBytes });
		return list.filter(({ isPrinted }) => isPrinted).map(({ id }) => id);
	};
	expect([await marked(), await marked(0)]).toEqual([["a"], ["a"]]);
});

test("a search finds the first match in each session in any case and escaping, and ignores technical fields", async () => {
	const dir = tempDir();
	const a = addSession(dir, {
		id: "a",
		at: 2,
		lines: [
			message("nothing"),
			message(`${"b".repeat(100)}Say "ÄPFEL\nund\tBirnen" ${"c".repeat(200)}`),
			message("äpfel"),
		],
	});
	const b = addSession(dir, {
		id: "b",
		at: 1,
		lines: [
			padding(1_500_000),
			{
				type: "message",
				message: {
					role: "assistant",
					content: [{ type: "toolCall", id: "x", name: "bash", arguments: { command: "eat Äpfel" } }],
				},
			},
		],
	});
	expect(await hits(dir, "äpfel")).toEqual([
		{ path: a, excerpt: `…${"b".repeat(35)}Say "ÄPFEL und Birnen" ${"c".repeat(107)}…` },
		{ path: b, excerpt: "eat Äpfel" },
	]);
	expect((await hits(dir, 'say "äpfel\nUND')).map(({ path }) => path)).toEqual([a]);
	expect((await hits(dir, "bash")).map(({ path }) => path)).toEqual([b]);
	for (const text of ["toolCall", "assistant", "\\u", "(.*)", "", "  "]) expect(await hits(dir, text)).toEqual([]);
	expect(await hits(join(dir, "none"), "x")).toEqual([]);
});

test("a search finds matches across chunk boundaries and in a last line without line end", async () => {
	const dir = tempDir();
	const path = addSession(dir, { id: "a", at: 1 });
	for (let shift = 0; shift < 12; shift++) {
		writeFileSync(path, `{"type":"x","text":"${"y".repeat(1024 * 1024 - 30 + shift)}needle"}`);
		expect((await hits(dir, "NEEDLE")).length).toBe(1);
	}
	writeFileSync(path, `{"type":"x","text":"${"y".repeat(5_000_000)}needle"}\n{"type":"y","text":"pin"}\n`);
	expect([(await hits(dir, "needle")).length, (await hits(dir, "pin")).length]).toEqual([1, 1]);
});

test("an aborted search stops", async () => {
	const dir = tempDir();
	for (const id of ["a", "b"]) addSession(dir, { id, at: 1, lines: [message("needle")] });
	const stop = new AbortController();
	const search = searchSessions(dir, "needle", { signal: stop.signal });
	expect((await search.next()).done).toBe(false);
	stop.abort();
	await expect(search.next()).rejects.toThrow("abort");
});

test("a listing reads large sessions completely up to the given number of bytes", async () => {
	const dir = tempDir();
	const lines = [message("hi"), padding(100_000), named("middle"), padding(100_000)];
	addSession(dir, { id: "a", at: 1, lines });
	addSession(dir, { id: "b", at: 2, lines });
	const list = await listSessions(dir, { scanBytes: 300_000 });
	expect(list.map(({ id, name, messageCount }) => [id, name, messageCount])).toEqual([
		["b", "middle", 1],
		["a", null, null],
	]);
});

test("a listing counts the sessions that hooks started", async () => {
	const dir = tempDir();
	const path = addSession(dir, { id: "a", at: 2 });
	addSession(dir, { id: "b", at: 1 });
	const children = path.replace(".jsonl", ".agents");
	mkdirSync(children);
	expect((await listSessions(dir))[0]).not.toHaveProperty("subSessions");
	for (const id of ["c", "d"]) addSession(children, { id, at: 1 });
	writeFileSync(join(children, "notes.txt"), "");
	expect((await listSessions(dir)).map(({ id, subSessions }) => [id, subSessions])).toEqual([
		["a", 2],
		["b", undefined],
	]);
});

test("an aborted listing fails", async () => {
	const dir = tempDir();
	addSession(dir, { id: "a", at: 1 });
	await expect(listSessions(dir, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
});

test("one session is summarized completely, whatever its size", () => {
	const dir = tempDir();
	const path = addSession(dir, {
		id: "a",
		at: 1,
		lines: [padding(100_000), named("middle"), message("hi"), padding(100_000)],
	});
	expect(summarizeSession(path)).toMatchObject({ path, id: "a", name: "middle", firstMessage: "hi", messageCount: 1 });
	writeFileSync(path, "{}");
	expect([path, dir, join(dir, "none")].map(summarizeSession)).toEqual([undefined, undefined, undefined]);
});

test("files changed at the same time are in the reverse order of their names", () => {
	const dir = tempDir();
	const [a, c, b] = ["a", "c", "b"].map((id) => addSession(dir, { id, at: 1 }));
	const newest = addSession(dir, { id: "0", at: 2 });
	writeFileSync(join(dir, "notes.txt"), "");
	expect(newestFirst(dir)).toEqual([newest, c, b, a]);
	expect(sessionFiles(dir).sort()).toEqual([newest, a, b, c]);
	expect(sessionFiles(join(dir, "none"))).toEqual([]);
});

test("the directories of sessions are listed, without files", () => {
	const root = tempDir();
	for (const name of ["--a--", "--b--"]) mkdirSync(join(root, name));
	writeFileSync(join(root, "notes.txt"), "");
	expect(sessionDirs(root).sort()).toEqual([join(root, "--a--"), join(root, "--b--")]);
	expect(sessionDirs(join(root, "none"))).toEqual([]);
});

test("a session is found in any of several directories, by its complete id first", () => {
	const [one, two] = [tempDir(), tempDir()];
	const long = addSession(one, { id: "abc", at: 1 });
	const short = addSession(two, { id: "ab", at: 1 });
	const found = ["ab", "AB", "abc", basename(short)].map((wanted) => findSession([one, two], wanted));
	expect(found).toEqual([short, short, long, short]);
	expect(() => findSession([one, two], "q")).toThrow('There is no session "q" in any directory');
	expect(() => findSession(one, "q")).toThrow(`There is no session "q" in ${one}`);
});

test("the error for a session of another directory names the directory and the file", () => {
	const root = tempDir();
	const [here, there] = [join(root, "--here--"), join(root, "--there--")];
	for (const dir of [here, there]) mkdirSync(dir);
	addSession(here, { id: "abc-1", at: 1 });
	const file = join(there, "2026-01-01T00-00-00-000Z_abd-2.jsonl");
	writeFileSync(
		file,
		'{"type":"session","version":1,"id":"abd-2","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/there"}\n',
	);
	for (const wanted of ["abd-2", "ABD"]) {
		expect(() => findSession(here, wanted)).toThrow(
			expect.objectContaining({
				code: "log_not_found",
				message: `There is no session "${wanted}" in ${here}`,
				hint: `a session of /there has this id: run pi there, or name the file: ${file}`,
			}),
		);
	}
	expect(() => findSession(here, "ab")).not.toThrow();
});

test("an error names at most three ids: those that match, or those with the longest common start", () => {
	const dir = tempDir();
	for (const id of ["abc1", "abc2", "abc3", "abc4", "xyz"]) addSession(dir, { id, at: 1 });
	const hintOf = (wanted: string) => {
		try {
			return findSession(dir, wanted);
		} catch (error) {
			return (error as PiError).hint;
		}
	};
	expect(hintOf("abc")).toMatch(/^use more characters of the id: abc\d, abc\d, abc\d$/);
	expect(hintOf("abcx")).toMatch(/^did you mean abc\d or abc\d or abc\d\?$/);
	expect(hintOf("xya")).toBe("did you mean xyz?");
	expect(hintOf("xyzzy")).toBe("did you mean xyz?");
});

test("the path of a missing file is not a session", () => {
	const dir = tempDir();
	expect(() => findSession(dir, "none.jsonl")).toThrow("There is no session file none.jsonl");
	expect(() => findSession(dir, join(dir, "none"))).toThrow(`There is no session file ${join(dir, "none")}`);
});
