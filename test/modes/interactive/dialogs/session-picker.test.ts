import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { CommandSessions } from "../../../../src/commands/pickers.js";
import { OpenFile } from "../../../../src/log/open-file.js";
import { sessionDirName } from "../../../../src/log/session-paths.js";
import { SessionPicker } from "../../../../src/modes/interactive/dialogs/session-picker.js";
import { createSessionStore } from "../../../../src/services/store/session-store.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { acquireLock } from "../../../../src/util/file-lock.js";
import { skipTime } from "../../../helpers/skip-time.js";
import { tempAgentDir, tempDir } from "../../../helpers/temp.js";
import { startApp } from "../app.js";

const look = { theme: createTheme("plain"), keymap: createKeymap(), rows: () => 24 };
const NOW = Date.UTC(2026, 0, 10, 12);
const HOUR = 3_600_000;
const CTRL_D = "\x04";
const CTRL_R = "\x12";

interface Sample {
	id: string;
	hoursAgo: number;
	says: string[];
	name?: string;
	cwd?: string;
	branch?: string;
	/** The mode of its prompts. */
	mode?: string;
}

const SAMPLES: Sample[] = [
	{
		id: "aaa",
		hoursAgo: 1,
		says: ["why does checkout round down?", "the floor in price.ts drops half cents"],
		branch: "main",
	},
	{
		id: "bbb",
		hoursAgo: 30,
		says: ["add the coupon field", "done, with a test"],
		name: "coupons",
		branch: "feature/coupons-for-everyone",
	},
	{ id: "ccc", hoursAgo: 80, says: ["what is this project?", `${"a shop. ".repeat(40)}Its coupon code is strange.`] },
	{ id: "ddd", hoursAgo: 2, says: ["fix the pipeline"], cwd: "/home/ada/src/infrastructure/build-machines" },
];

function write(root: string, { id, hoursAgo, says, name, cwd = "/home/ada/src/shop", branch, mode }: Sample): string {
	const dir = join(root, sessionDirName(cwd));
	mkdirSync(dir, { recursive: true });
	const path = join(dir, `2026-01-01T00-00-00-000Z_${id}.jsonl`);
	const timestamp = "2026-01-01T00:00:00.000Z";
	const lines = [
		{ type: "session", version: 1, id, timestamp, cwd, ...(branch && { branch }) },
		...says.map((content) => ({
			type: "message",
			timestamp,
			message: { role: "user", content, timestamp: 1 },
			...(mode && { mode }),
		})),
		...(name === undefined ? [] : [{ type: "session_info", timestamp, name }]),
	];
	writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
	const at = (NOW - hoursAgo * HOUR) / 1000;
	utimesSync(path, at, at);
	return path;
}

/** US dollars by session. */
const COSTS = new Map([
	["aaa", 0.42],
	["ccc", 12.5],
]);

/** A trash that refuses every file. */
const NO_TRASH = async () => "this system has no trash that pi can use";

async function open(
	samples: readonly Sample[] = SAMPLES,
	current: string | null = null,
	root = tempDir(),
	moveToTrash: (path: string) => Promise<string | null> = NO_TRASH,
) {
	const paths = new Map(samples.map((sample) => [sample.id, write(root, sample)]));
	const closed = new AbortController();
	onTestFinished(() => closed.abort());
	const chosen: unknown[] = [];
	const named: string[] = [];
	const sessions = createSessionStore({
		costs: async () => COSTS,
		dir: join(root, sessionDirName("/home/ada/src/shop")),
		root,
		cwd: "/home/ada/src/shop",
		current: () => (current === null ? null : (paths.get(current) ?? null)),
		elsewhere: { env: {}, home: root },
		setName: (name) => named.push(name),
		moveToTrash,
	});
	const picker = new SessionPicker(look, {
		sessions,
		home: "/home/ada",
		signal: closed.signal,
		requestRender: () => {},
		onClose: (path) => chosen.push(path),
		now: () => NOW,
	});
	const screen = (width = 80) => `${picker.render(width).join("\n")}\n`;
	const shows = (wanted: string | RegExp) =>
		vi.waitFor(() => expect(screen()).toMatch(wanted), { interval: 5, timeout: 10_000 });
	const type = (...keys: string[]) => {
		for (const key of keys) picker.handleInput(key);
	};
	/** Answers a question that has been on the screen for a while. */
	const answer = (key: string) => {
		screen();
		skipTime(1);
		type(key);
	};
	await vi.waitFor(() => expect(screen()).not.toContain("loading"), { interval: 2, timeout: 10_000 });
	return { picker, paths, chosen, named, closed, screen, shows, type, answer, sessions };
}

afterEach(() => void vi.restoreAllMocks());

describe("the picker", () => {
	test.each([80, 40])("lists this directory's sessions, newest first, at %d columns", async (width) => {
		const { screen } = await open(SAMPLES, "bbb");
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/session-picker-${width}.txt`);
	});

	test.each([80, 40])(
		"lists the sessions of all directories with tab, with their directory, at %d columns",
		async (width) => {
			const { screen, shows, type } = await open();
			type("\t");
			await shows("pipeline");
			await expect(screen(width)).toMatchFileSnapshot(`../../../screens/session-picker-all-${width}.txt`);
			type("\t");
			await vi.waitFor(() => expect(screen()).not.toContain("pipeline"), 10_000);
		},
	);

	test.each([80, 40])("shows which session is open in another pi, at %d columns", async (width) => {
		const root = tempDir();
		const samples = SAMPLES.slice(0, 2);
		const lock = acquireLock(samples.map((sample) => write(root, sample))[0] ?? "");
		onTestFinished(() => lock.release());
		const { screen } = await open(samples, "bbb", root);
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/session-picker-open-${width}.txt`);
	});

	test.each([80, 40])("lists the sessions of pi -p on demand, at %d columns", async (width) => {
		const printed = { id: "eee", hoursAgo: 3, says: ["write a commit message"], mode: "print" };
		const { screen, type } = await open([...SAMPLES, printed]);
		expect(screen(width)).not.toContain("commit");
		type("\x14");
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/session-picker-printed-${width}.txt`);
		type("\x14");
		expect(screen(width)).not.toContain("commit");
		const only = await open([printed]);
		expect(only.screen(width)).toContain("1 session of pi -p not shown");
	});

	test("filters by name and first message at once and searches the full texts in the background", async () => {
		const { screen, shows, type, chosen, paths } = await open();
		type(..."coupon");
		expect(screen()).toContain("1/1");
		await shows("1/2");
		await expect(screen()).toMatchFileSnapshot("../../../screens/session-picker-search.txt");
		await expect(screen(40)).toMatchFileSnapshot("../../../screens/session-picker-search-40.txt");
		type("\x1b[B", "\r");
		expect(chosen).toEqual([paths.get("ccc")]);
	});

	test("searches only for the latest typed text", async () => {
		const { sessions, type, shows, screen } = await open();
		const search = vi.spyOn(sessions, "search");
		type(..."half c");
		await shows("1/1");
		type("\x15", ..."strange");
		await shows("1/1");
		expect(screen()).toContain("…pon code is strange.");
		expect(search.mock.calls.map(([text]) => text)).toEqual(["half c", "strange"]);
		expect(search.mock.calls.map(([, , signal]) => signal.aborted)).toEqual([true, false]);
	});

	test("shows its progress until both the list and the search are complete", async () => {
		const { sessions, type, shows, screen } = await open();
		const ends: (() => void)[] = [];
		const until = () => new Promise<void>((resolve) => ends.push(resolve));
		vi.spyOn(sessions, "list").mockImplementation(async function* () {
			await until();
			yield [];
		});
		vi.spyOn(sessions, "search").mockImplementation(async function* () {
			await until();
			yield* [];
		});
		type("\t", ..."half");
		expect(screen()).toContain("loading …");
		await vi.waitFor(() => expect(ends).toHaveLength(2), 10_000);
		expect(screen()).toContain("loading …");
		ends[0]?.();
		await shows("searching all messages …");
		ends[1]?.();
		await vi.waitFor(() => expect(screen()).not.toContain("searching"), 10_000);
		expect(screen()).not.toContain("loading");
	});

	test("stops the search when it is closed", async () => {
		const { sessions, type, closed } = await open();
		const search = vi.spyOn(sessions, "search");
		type(..."half c");
		await vi.waitFor(() => expect(search).toHaveBeenCalledOnce(), 10_000);
		closed.abort();
		expect(search.mock.calls[0]?.[2].aborted).toBe(true);
	});
});

describe("a session", () => {
	test("goes to the trash after a question, and the path of the file is shown", async () => {
		const root = tempDir();
		const trash = join(root, "trash");
		const { screen, shows, type, answer, paths } = await open(SAMPLES, null, root, async (path) => {
			renameSync(path, trash);
			return null;
		});
		const path = paths.get("bbb") ?? "";
		type("\x1b[B", CTRL_D);
		expect(screen()).toContain("Move this session to the trash?");
		expect(screen().replace(/\s/g, "")).toContain(`coupons${path}`);
		type("\x1b");
		expect(existsSync(path)).toBe(true);
		type(CTRL_D);
		answer("y");
		await shows("moved to the trash");
		expect([existsSync(path), existsSync(trash)]).toEqual([false, true]);
		expect(screen()).not.toContain("coupons");
		expect(screen(400)).toContain(`moved to the trash: ${path}`);
	});

	test("is deleted for good after a second question if there is no trash", async () => {
		const { screen, shows, type, answer, paths } = await open();
		const path = paths.get("bbb") ?? "";
		type("\x1b[B", CTRL_D);
		answer("y");
		await shows("Delete this session for good?");
		expect(screen(120)).toContain("It cannot go to the trash: this system has no trash that pi can use");
		expect(screen().replace(/\s/g, "")).toContain(`coupons${path}`);
		type("\x1b");
		expect(existsSync(path)).toBe(true);
		type(CTRL_D);
		answer("y");
		await shows("Delete this session for good?");
		answer("y");
		await vi.waitFor(() => expect(existsSync(path)).toBe(false), 10_000);
		expect(screen()).not.toContain("coupons");
		expect(screen(400)).toContain(`deleted ${path}`);
	});

	test.each([40, 80, 120])("shows both questions at %d columns", async (width) => {
		const path = "/home/ada/.pi/agent/sessions/--home-ada-src-shop--/2026-01-01T00-00-00-000Z_bbb.jsonl";
		const named = { path, id: "bbb", name: "coupons", firstMessage: "add the coupon field", messageCount: 2 };
		const sessions: CommandSessions = {
			costs: async () => new Map(),
			...{
				current: null,
				cwd: "/home/ada/src/shop",
				isOpen: () => false,
				trash: NO_TRASH,
				remove: () => {},
				adopt: async (path) => ({ path }),
			},
			async *list() {
				yield [{ ...named, modifiedAt: NOW - HOUR, cwd: "/home/ada/src/shop", bytes: 900 }];
			},
			async *search() {},
			rename: async () => {},
		};
		const { signal } = new AbortController();
		const picker = new SessionPicker(look, { sessions, home: "/home/ada", signal, requestRender() {}, onClose() {} });
		const shows = (wanted: string) =>
			vi.waitFor(() => expect(picker.render(width).join("\n")).toContain(wanted), 10_000);
		await shows("coupons");
		picker.handleInput(CTRL_D);
		const screens = [picker.render(width)];
		skipTime(1);
		picker.handleInput("y");
		await shows("for good?");
		screens.push(picker.render(width));
		for (const line of screens.flat()) expect(line.length).toBeLessThanOrEqual(width);
		const text = screens.flat().map((line) => `${line.trimEnd()}\n`);
		await expect(text.join("")).toMatchFileSnapshot(`../../../screens/session-delete-${width}.txt`);
	});

	test("that is open cannot be deleted, and nothing is asked", async () => {
		const { screen, shows, type, paths } = await open(SAMPLES, "aaa");
		type(CTRL_D);
		expect(screen()).not.toContain("Move this session to the trash?");
		await shows("The open session cannot be deleted · start another with /new first");
		expect(existsSync(paths.get("aaa") ?? "")).toBe(true);
	});

	test("can be renamed, even if it is open", async () => {
		const { shows, type, named, sessions, paths } = await open(SAMPLES, "aaa");
		type(CTRL_R, ..."rounding", "\r");
		await shows(/● rounding /);
		expect(named).toEqual(["rounding"]);
		type("\x1b[B", CTRL_R, ..." and more", "\r");
		await shows("coupons and more");
		for await (const list of sessions.list("here")) {
			expect(list.find(({ path }) => path === paths.get("bbb"))?.name).toBe("coupons and more");
		}
	});
});

test("listing 2000 sessions reads their heads once, typing reads nothing, and only visible rows are drawn", async () => {
	const read = vi.spyOn(OpenFile.prototype, "readSome");
	const samples = Array.from({ length: 2000 }, (_, n) => ({
		id: `s${n}`,
		hoursAgo: n,
		says: [`question ${n}`, `${"long ".repeat(2000)}`],
	}));
	const { picker, type, screen } = await open(samples);
	const bytes = read.mock.results.reduce((sum, { value }) => sum + (typeof value === "number" ? value : 0), 0);
	expect(screen()).toContain("1/2000");
	expect(bytes).toBeLessThan(2000 * 96 * 1024);
	read.mockClear();
	type(..."question 1999", "\x7f");
	expect(picker.render(80).length).toBeLessThanOrEqual(11 + 5);
	expect(screen()).toContain("question 199 ");
	expect(read).not.toHaveBeenCalled();
});

test("pi -r and /resume open the picker; the session continues with its transcript and the draft is kept", async () => {
	const agentDir = tempAgentDir();
	const home = tempDir();
	const cwd = join(home, "shop");
	write(join(agentDir, "sessions"), { id: "aaa", hoursAgo: 1, says: ["why does checkout round down?"], cwd });
	write(join(agentDir, "sessions"), { id: "bbb", hoursAgo: 2, says: ["add the coupon field"], cwd });
	const { terminal, session } = await startApp({ agentDir, cwd, mode: { prompts: [{ text: "/resume" }] } });
	await terminal.waitFor("Which session?");
	await terminal.waitFor("1/2");
	await terminal.type("coupon");
	await terminal.press("enter");
	await terminal.waitFor("▎ › add the coupon field");
	expect(session().sessionId).toBe("bbb");
	await terminal.type("/resume");
	await terminal.press("enter");
	await terminal.waitFor("1/2");
	await terminal.press("escape");
	expect(session().sessionId).toBe("bbb");
});
