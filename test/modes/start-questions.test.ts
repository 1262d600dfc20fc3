import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GrantAnswer } from "../../src/hooks/granted-handles.js";
import { NO_UI } from "../../src/hooks/session-ui.js";
import { codeLines, compareWithTrusted } from "../../src/modes/code-lines.js";
import { createCodePager } from "../../src/modes/interactive/dialogs/pager.js";
import { askGrant, askTrust, type StartQuestions } from "../../src/modes/start-questions.js";
import type { TrustAnswer } from "../../src/trust/gate.js";
import type { ProjectFile, ProjectSet, TrustState } from "../../src/trust/store.js";
import { ApprovalDialog } from "../../src/tui/approval-dialog.js";
import { createKeymap } from "../../src/tui/keymap.js";
import { createTheme } from "../../src/tui/theme.js";
import type { ApprovalDetails } from "../../src/util/approval.js";
import { PAUSE_MS } from "../../src/util/clock.js";
import { anyText } from "../helpers/any-text.js";
import { FakeTiming } from "../helpers/fake-timing.js";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const look = (rows = 24) => ({ theme: createTheme("plain"), keymap: createKeymap(), rows: () => rows });

function file(rel: string, text: string, state: TrustState, before?: string): ProjectFile {
	const bytes = Buffer.from(text);
	const sha256 = createHash("sha256").update(bytes).digest("hex");
	const known = before === undefined ? {} : { trustedText: before };
	return { rel, realPath: `/home/ada/shop/${rel}`, bytes, sha256, size: bytes.length, state, ...known };
}

function setOf(files: ProjectFile[], more: Partial<ProjectSet> = {}): ProjectSet {
	return { root: "/home/ada/shop", files, unresolved: [], trustedAt: "2026-11-03T10:00:00Z", ...more };
}

const LINT = Array.from({ length: 30 }, (_, at) => `const line${at} = ${at};`).join("\n");
const SET = setOf(
	[
		file(".pi/hooks/deploy.ts", 'import { ship } from "../../lib/ship.js";\nexport default ship;\n', "new"),
		file(
			".pi/hooks/lint.ts",
			LINT.replace("= 7;", "= 77;\nconst more = 1;").replace(/const line20.*\n/, ""),
			"changed",
			LINT,
		),
		file("lib/ship.ts", "export const ship = () => {};\n", "trusted"),
	],
	{ unresolved: [{ from: ".pi/hooks/deploy.ts", specifier: "left-pad", reason: "a package" }] },
);

const listing = (version: string, digit: string) => `version ${version}\n${digit.repeat(64)} index.js\n`;
const PACKAGE = setOf(
	[
		file("hooks/hello.ts", 'import leftPad from "left-pad";\nexport default leftPad;\n', "new"),
		file("package.json", '{ "name": "hello-kit" }\n', "trusted"),
		{
			...file("node_modules/left-pad", listing("1.3.1", "b"), "changed", listing("1.3.0", "a")),
			title: "node_modules/left-pad 1.3.1",
			size: 9000,
		},
		file("node_modules/right-pad", listing("2.0.0", "c"), "trusted"),
	],
	{
		root: "package:npm:hello-kit",
		package: {
			name: "npm:hello-kit",
			notes: [
				"Says hello",
				"brings 1 hook, 1 extension, version 1.1.0",
				"needs 2 dependencies, 8.9 KB",
				"extensions/left.ts uses pi.registerCommand, ctx.ui.notify",
				"extensions/left.ts uses event session_tree in line 4, which pi refuses",
			],
		},
	},
);

/** A question asked in the dialog of the screen, and the code that it shows over it. */
async function open<T>(ask: (questions: StartQuestions) => Promise<T>, rows = 24, lastKeyAgoMs = PAUSE_MS) {
	const timing = new FakeTiming();
	const openedAt = timing.now();
	const guard = { timing, lastKeyAt: () => openedAt - lastKeyAgoMs };
	const answers: T[] = [];
	const shown: Component[] = [];
	const style = look(rows);
	const questions: StartQuestions = {
		ui: {
			...NO_UI,
			approve: (approval, _?: unknown, details?: ApprovalDetails) =>
				new Promise((resolve) => shown.push(new ApprovalDialog(style, approval, resolve, guard, details))),
		},
		async showCode(title, code) {
			const [question] = shown;
			if (question instanceof ApprovalDialog) question.focused = false;
			await new Promise<void>((resolve) => shown.push(createCodePager(style, title, code, resolve)));
			shown.pop();
		},
		lastBytes: "",
	};
	void ask(questions).then((answer) => answers.push(answer));
	await expect.poll(() => shown.length).toBe(1);
	let drawn = 80;
	const render = (width: number) => {
		drawn = width;
		const top = shown.at(-1);
		if (top instanceof ApprovalDialog) top.focused = true;
		return top?.render(width) ?? [];
	};
	/** Presses keys with a time before each one, in ms. */
	const typeAt = async (ms: number, keys: readonly string[]) => {
		for (const key of keys) {
			render(drawn);
			timing.pass(ms);
			shown.at(-1)?.handleInput?.(key);
		}
		timing.pass(PAUSE_MS);
		for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	};
	const press = async (...keys: string[]) => {
		for (const key of keys) await typeAt(PAUSE_MS, [key]);
	};
	const screen = (width = 80) =>
		`${render(width)
			.map((line) => line.trimEnd())
			.join("\n")}\n`;
	return { answers, press, typeAt, render, screen };
}

const openTrust = (set: ProjectSet, rows?: number) => open((questions) => askTrust(set, questions, NOW), rows);

function openGrant(lastKeyAgoMs?: number) {
	const path = "/home/ada/shop/.pi/hooks/task-reminder.ts";
	const file = { path, realPath: path, scope: "project", name: "task-reminder" } as const;
	const paths = { cwd: "/home/ada/shop", home: "/home/ada" };
	return open<GrantAnswer>(
		(questions) => askGrant({ file, handle: "systemItems" }, questions, paths),
		24,
		lastKeyAgoMs,
	);
}

describe("the question about code", () => {
	test.each([80, 40])("lists every file with size, digest and state, in %i columns", async (width) => {
		const { screen } = await openTrust(SET, 40);
		await expect(screen(width)).toMatchFileSnapshot(`../screens/trust-question-${width}.txt`);
	});

	test.each([120, 80, 40])(
		"shows what a package brings, its files and its dependencies, in %i columns",
		async (width) => {
			const { screen } = await openTrust(PACKAGE, 40);
			await expect(screen(width)).toMatchFileSnapshot(`../screens/trust-package-${width}.txt`);
		},
	);

	test.each([120, 80, 40])("puts only files with a long path on two lines, in %i columns", async (width) => {
		const long = `extensions/${"deeply/nested/folder/".repeat(width < 120 ? 3 : 5)}index.ts`;
		const files = ["a.ts", "hooks/b.ts", "c.md"].map((rel) => file(rel, rel, "new"));
		const { screen } = await openTrust({ ...PACKAGE, files: [...files, file(long, "x", "new")] }, 40);
		await expect(screen(width)).toMatchFileSnapshot(`../screens/trust-package-long-${width}.txt`);
	});

	test.each([120, 80, 40])("is usable with 200 dependencies, in %i columns", async (width) => {
		const part = (at: number): ProjectFile => ({
			...file(`node_modules/part-${at}`, `version 1.0.${at}\n${"d".repeat(64)} lib/index.js\n`, "new"),
			title: `node_modules/part-${at} 1.0.${at}`,
			size: at * 1024 * 1024,
		});
		const files = [file("hooks/sum.ts", "1\n", "new"), ...Array.from({ length: 200 }, (_, at) => part(at))];
		const notes = ["brings 1 hook", "has 1 file, 2 B", "needs 200 dependencies, 19.4 GB"];
		const { screen, press } = await openTrust({ ...PACKAGE, files, package: { name: "npm:many", notes } }, 24);
		const first = screen(width);
		await press("\x1b[F");
		const last = screen(width);
		await press("v");
		screen(width);
		await press("\x1b[F");
		await expect(`${first}\n${last}\n${screen(width)}`).toMatchFileSnapshot(
			`../screens/trust-package-many-${width}.txt`,
		);
	});

	test("shows the code of a package and the changed files of a dependency", async () => {
		const { screen, press } = await openTrust(PACKAGE, 40);
		await press("v");
		await expect(screen(80)).toMatchFileSnapshot("../screens/trust-package-code-80.txt");
	});

	test("looks like its documentation", async () => {
		const page = readFileSync(new URL("../../docs/trust.md", import.meta.url), "utf8");
		const { screen } = await openTrust(SET, 40);
		const [, ...lines] = screen(80).trimEnd().split("\n");
		expect(page).toContain(`\`\`\`\n${lines.join("\n")}\n\`\`\``);
	});

	test.each<[string, TrustAnswer]>([
		["y", "trust"],
		["Y", "trust"],
		["o", "once"],
		["n", "no"],
		["\x1b", "no"],
		["\x03", "no"],
		["\x1b[121u", "trust"],
	])("%j answers", async (key, answer) => {
		const { press, answers } = await openTrust(SET);
		await press(key);
		await expect.poll(() => answers).toEqual([answer]);
	});

	test("ignores other keys, pasted text, and an Enter that ends such text", async () => {
		const { press, typeAt, answers, screen } = await openTrust(SET);
		await press(" ", "x", "yes", "\x1b[200~y\x1b[201~", "\x7f");
		await typeAt(300, [..."try this\r", "y"]);
		expect(screen()).toContain("keys count after a pause");
		expect(answers).toEqual([]);
		expect(screen()).toContain("Run it?");
	});

	test("is answered only once every file has been on the screen", async () => {
		const files = Array.from({ length: 60 }, (_, at) => file(`.pi/hooks/h${at}.ts`, "x", "new"));
		const { press, screen, answers } = await openTrust(setOf(files));
		expect(screen()).toContain("of 60");
		expect(screen()).not.toContain("h59.ts");
		await press("y");
		expect(answers).toEqual([]);
		await press(...Array.from({ length: 10 }, () => "\x1b[6~"));
		expect(screen()).toContain("h59.ts");
		await press("y");
		expect(answers).toEqual(["trust"]);
	});

	test("shows the targets of links and the names of invisible characters", async () => {
		const linked = { ...file(".pi/hooks/a.ts", "x", "new"), realPath: "/elsewhere/\u200bevil.ts" };
		const { screen } = await openTrust(setOf([linked, file(".pi/hooks/\u202e\x1b[31mb.ts", "x", "new")]));
		expect(screen()).toContain("a.ts → /elsewhere/‹U+200B›evil.ts");
		expect(screen()).toContain("‹U+202E›␛[31mb.ts");
	});

	test("names a change without counts when the trusted copy is missing", async () => {
		const { screen } = await openTrust(
			setOf([file(".pi/hooks/a.ts", "x", "changed")], { trustedAt: "2025-01-31T10:00:00Z" }),
		);
		expect(screen()).toMatch(/changed since 31 Jan 2025$/m);
	});
});

describe("the code", () => {
	test("is complete for new files and a diff for changed ones; escape returns to the question", async () => {
		const { press, answers, screen } = await openTrust(SET, 40);
		await press("v");
		await expect(screen()).toMatchFileSnapshot("../screens/trust-code.txt");
		await press("y", "n", "o");
		expect(answers).toEqual([]);
		await press("\x1b");
		expect(screen()).toContain("Run it?");
		expect(answers).toEqual([]);
		await press("y");
		await expect.poll(() => answers).toEqual(["trust"]);
	});

	test("scrolls by line, by page and to its end", async () => {
		const text = Array.from({ length: 500 }, (_, at) => `line ${at + 1}`).join("\n");
		const { press, screen } = await openTrust(setOf([file(".pi/hooks/a.ts", text, "new")]));
		await press("v");
		expect(screen()).toContain("lines 1–18 of 501");
		await press("\x1b[B", " ");
		expect(screen()).toContain("lines 19–36 of 501");
		await press("G");
		expect(screen()).toContain("line 500");
		await press("\x1b[5~", "k", "g");
		expect(screen()).toContain("lines 1–18 of 501");
	});

	test("that cannot be shown is reported, and the question stays open", async () => {
		const notices: string[] = [];
		const ui: StartQuestions["ui"] = {
			...NO_UI,
			notify: (message) => notices.push(message),
			async approve(_, _dialog?: unknown, details?: ApprovalDetails) {
				await details?.show();
				return { allowed: false };
			},
		};
		const showCode = () => Promise.reject(new Error("no such file"));
		expect(await askTrust(SET, { ui, showCode, lastBytes: "" }, NOW)).toBe("no");
		expect(notices).toEqual(["Cannot show the code: no such file"]);
	});

	test("of a trusted file is shown when nothing is new", async () => {
		const { press, screen } = await openTrust(setOf([file(".pi/hooks/a.ts", "const known = 1;", "trusted")]));
		await press("v");
		expect(screen()).toContain("const known = 1;");
	});

	test("shows invisible characters by name and long lines in full", async () => {
		const line = `${"x".repeat(5000)}\u202eevil()\x1b[8m`;
		const shown = codeLines(line)
			.map(({ text }) => text)
			.join("");
		expect(shown).toBe(`${"x".repeat(5000)}‹U+202E›evil()␛[8m`);
		const { press, render } = await openTrust(setOf([file(".pi/hooks/a.ts", line, "new")]), 200);
		await press("v");
		expect(render(40).join("")).toContain("evil()");
	});

	test("of a changed file is compared line by line", async () => {
		const change = await compareWithTrusted(file("a.ts", "a\nB\nc\nd\n", "changed", "a\nb\nc\n"));
		expect(change).toMatchObject({ added: 2, removed: 1 });
		expect(change?.lines.map(({ mark, text }) => `${mark} ${text}`)).toEqual([
			" …",
			" 1 a",
			"- b",
			"+2 B",
			" 3 c",
			"+4 d",
		]);
	});

	test("is never wider than the screen and contains no control sequences", async () => {
		const text = anyText({ maxLength: 300 });
		await fc.assert(
			fc.asyncProperty(text, text, fc.integer({ min: 20, max: 120 }), async (now, before, width) => {
				const { press, render } = await openTrust(setOf([file(".pi/hooks/a.ts", now, "changed", before)]), 60);
				const question = render(width);
				await press("v");
				for (const line of [...question, ...render(width)]) {
					expect(visibleWidth(line)).toBeLessThanOrEqual(width);
					expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
				}
			}),
			{ numRuns: 60 },
		);
	});
});

describe("the question about a handle", () => {
	test.each([80, 40])("at %d columns names the hook, the handle, its meaning and the keys", async (width) => {
		const { screen } = await openGrant();
		const text = screen(width);
		expect(text.split("\n").filter((line) => visibleWidth(line) > width)).toEqual([]);
		await expect(text).toMatchFileSnapshot(`../screens/grant-${width}.txt`);
	});

	test.each<[string, GrantAnswer]>([
		["y", "grant"],
		["o", "once"],
		["n", "no"],
		["\r", "no"],
		["\x1b", "no"],
	])("%j answers %s", async (key, answer) => {
		const { press, answers } = await openGrant();
		await press(key);
		expect(answers).toEqual([answer]);
	});

	test("ignores a key that was meant for the editor", async () => {
		const { press, typeAt, answers } = await openGrant(0);
		await typeAt(PAUSE_MS - 1, ["y"]);
		expect(answers).toEqual([]);
		await press("o");
		expect(answers).toEqual(["once"]);
	});
});
