import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { visibleWidth } from "@mariozechner/pi-tui";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeLines, compareWithTrusted } from "../../../../src/modes/code-lines.js";
import { askTrust, TrustPanel } from "../../../../src/modes/interactive/dialogs/trust-panel.js";
import type { TrustAnswer } from "../../../../src/trust/gate.js";
import type { ProjectFile, ProjectSet, TrustState } from "../../../../src/trust/store.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { createTheme } from "../../../../src/tui/theme.js";
import { PAUSE_MS } from "../../../../src/util/clock.js";
import { FakeTiming } from "../../../helpers/fake-timing.js";
import { skipTime } from "../../../helpers/skip-time.js";
import { tempAgentDir, writeFiles } from "../../../helpers/temp.js";
import { startApp } from "../app.js";

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

/** A panel opened by `askTrust`. */
async function open(set: ProjectSet, rows?: number, state: Parameters<typeof askTrust>[3] = {}) {
	const answers: TrustAnswer[] = [];
	const panels: TrustPanel[] = [];
	const timing = new FakeTiming();
	const overlays = {
		open: <T>(build: (settle: (value: T) => void, setAway: () => void) => unknown) =>
			new Promise<T>((resolve) => {
				const made = build(resolve, () => {});
				if (made instanceof TrustPanel) panels.push(made);
			}),
	};
	void askTrust(set, overlays, look(rows), { now: NOW, guard: { timing }, ...state }).then((answer) =>
		answers.push(answer),
	);
	await expect.poll(() => panels.length).toBe(1);
	const panel = panels[0];
	if (!panel) throw new Error("The panel did not open");
	let drawn = 80;
	const press = async (...keys: string[]) => {
		for (const key of keys) {
			panel.render(drawn);
			timing.pass(PAUSE_MS);
			panel.handleInput(key);
			timing.pass(PAUSE_MS);
		}
		await Promise.resolve();
		await Promise.resolve();
	};
	return {
		panel,
		answers,
		press,
		screen: (width = 80) => {
			drawn = width;
			return `${panel.render(width).join("\n")}\n`;
		},
	};
}

describe("the question", () => {
	test.each([80, 40])("lists every file with size, digest and state, in %i columns", async (width) => {
		const { screen } = await open(SET, 40);
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/trust-question-${width}.txt`);
	});

	test.each([120, 80, 40])(
		"shows what a package brings, its files and its dependencies, in %i columns",
		async (width) => {
			const { screen } = await open(PACKAGE, 40);
			await expect(screen(width)).toMatchFileSnapshot(`../../../screens/trust-package-${width}.txt`);
		},
	);

	test.each([120, 80, 40])("puts only files with a long path on two lines, in %i columns", async (width) => {
		const long = `extensions/${"deeply/nested/folder/".repeat(width < 120 ? 3 : 5)}index.ts`;
		const files = ["a.ts", "hooks/b.ts", "c.md"].map((rel) => file(rel, rel, "new"));
		const { screen } = await open({ ...PACKAGE, files: [...files, file(long, "x", "new")] }, 40);
		await expect(screen(width)).toMatchFileSnapshot(`../../../screens/trust-package-long-${width}.txt`);
	});

	test.each([120, 80, 40])("is usable with 200 dependencies, in %i columns", async (width) => {
		const part = (at: number): ProjectFile => ({
			...file(`node_modules/part-${at}`, `version 1.0.${at}\n${"d".repeat(64)} lib/index.js\n`, "new"),
			title: `node_modules/part-${at} 1.0.${at}`,
			size: at * 1024 * 1024,
		});
		const files = [file("hooks/sum.ts", "1\n", "new"), ...Array.from({ length: 200 }, (_, at) => part(at))];
		const notes = ["brings 1 hook", "has 1 file, 2 B", "needs 200 dependencies, 19.4 GB"];
		const { screen, press } = await open({ ...PACKAGE, files, package: { name: "npm:many", notes } }, 24);
		const first = screen(width);
		await press("\x1b[F");
		const last = screen(width);
		await press("v");
		screen(width);
		await press("\x1b[F");
		await expect(`${first}\n${last}\n${screen(width)}`).toMatchFileSnapshot(
			`../../../screens/trust-package-many-${width}.txt`,
		);
	});

	test("shows the code of a package and the changed files of a dependency", async () => {
		const { screen, press } = await open(PACKAGE, 40);
		await press("v");
		await expect(screen(80)).toMatchFileSnapshot("../../../screens/trust-package-code-80.txt");
	});

	test("looks like its documentation", async () => {
		const page = readFileSync(new URL("../../../../docs/trust.md", import.meta.url), "utf8");
		const { screen } = await open(SET, 40);
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
		const { press, answers } = await open(SET);
		await press(key);
		await expect.poll(() => answers).toEqual([answer]);
	});

	test("ignores other keys and pasted text", async () => {
		const { press, answers, screen } = await open(SET);
		await press("\r", " ", "x", "yes", "\x1b[200~y\x1b[201~", "\t", "\x1b[B", "\x7f");
		expect(answers).toEqual([]);
		expect(screen()).toContain("Run it?");
	});

	test("ignores keys of a prompt that the user was typing, until there is a pause", async () => {
		const timing = new FakeTiming();
		const openedAt = timing.now();
		const { press, answers } = await open(SET, 24, { guard: { timing, lastKeyAt: () => openedAt } });
		for (const key of "try this\ry") {
			timing.pass(300);
			await press(key);
		}
		timing.pass(700);
		expect(answers).toEqual([]);
		await press("o");
		timing.pass(700);
		await expect.poll(() => answers).toEqual(["once"]);
	});

	test("scrolls with the arrows, and shows that there are more files", async () => {
		const files = Array.from({ length: 60 }, (_, at) => file(`.pi/hooks/h${at}.ts`, "x", "new"));
		const { press, screen } = await open(setOf(files));
		expect(screen()).toContain("of 60");
		expect(screen()).not.toContain("h59.ts");
		await press(...Array.from({ length: 10 }, () => "\x1b[6~"));
		expect(screen()).toContain("h59.ts");
	});

	test("shows the targets of links and the names of invisible characters", async () => {
		const linked = { ...file(".pi/hooks/a.ts", "x", "new"), realPath: "/elsewhere/\u200bevil.ts" };
		const { screen } = await open(setOf([linked, file(".pi/hooks/\u202e\x1b[31mb.ts", "x", "new")]));
		expect(screen()).toContain("a.ts → /elsewhere/‹U+200B›evil.ts");
		expect(screen()).toContain("‹U+202E›␛[31mb.ts");
	});

	test("names a change without counts when the trusted copy is missing", async () => {
		const { screen } = await open(
			setOf([file(".pi/hooks/a.ts", "x", "changed")], { trustedAt: "2025-01-31T10:00:00Z" }),
		);
		expect(screen()).toMatch(/changed since 31 Jan 2025$/m);
	});
});

describe("the code", () => {
	test("is complete for new files and a diff for changed ones; escape returns to the question", async () => {
		const { press, answers, screen } = await open(SET, 40);
		await press("v");
		await expect(screen()).toMatchFileSnapshot("../../../screens/trust-code.txt");
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
		const { press, screen } = await open(setOf([file(".pi/hooks/a.ts", text, "new")]));
		await press("v");
		expect(screen()).toContain("lines 1–18 of 501");
		await press("\x1b[B", " ");
		expect(screen()).toContain("lines 19–36 of 501");
		await press("G");
		expect(screen()).toContain("line 500");
		await press("\x1b[5~", "k", "g");
		expect(screen()).toContain("lines 1–18 of 501");
	});

	test("of a trusted file is shown when nothing is new", async () => {
		const { press, screen } = await open(setOf([file(".pi/hooks/a.ts", "const known = 1;", "trusted")]));
		await press("v");
		expect(screen()).toContain("const known = 1;");
	});

	test("shows invisible characters by name and long lines in full", async () => {
		const line = `${"x".repeat(5000)}\u202eevil()\x1b[8m`;
		const shown = codeLines(line)
			.map(({ text }) => text)
			.join("");
		expect(shown).toBe(`${"x".repeat(5000)}‹U+202E›evil()␛[8m`);
		const { press, panel } = await open(setOf([file(".pi/hooks/a.ts", line, "new")]), 200);
		await press("v");
		expect(panel.render(40).join("")).toContain("evil()");
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
		const text = fc.string({ unit: "binary", maxLength: 300 });
		await fc.assert(
			fc.asyncProperty(text, text, fc.integer({ min: 20, max: 120 }), async (now, before, width) => {
				const { press, panel } = await open(setOf([file(".pi/hooks/a.ts", now, "changed", before)]), 60);
				const question = panel.render(width);
				await press("v");
				for (const line of [...question, ...panel.render(width)]) {
					expect(visibleWidth(line)).toBeLessThanOrEqual(width);
					expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
				}
			}),
			{ numRuns: 60 },
		);
	});
});

describe("in the shell", () => {
	const HOOK = 'export default (pi) => pi.command("fromproject", { description: "it ran", handler() {} });';

	test("replaces the editor; y runs the code, and pi does not ask again until it changes", async () => {
		const agentDir = tempAgentDir();
		const app = await startApp({ agentDir, files: { ".pi/hooks/deploy.ts": HOOK } });
		await app.terminal.waitFor("Run it?");
		expect((await app.terminal.screen()).join("\n")).toMatch(/\.pi\/hooks\/deploy\.ts +90 B +[0-9a-f]{12} +new/);
		await app.terminal.press("enter");
		await app.terminal.waitFor("Run it?");
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("1 hook");
		await app.terminal.type("/fromp");
		await app.terminal.waitFor("it ran");
		await app.session().dispose();

		const again = await startApp({ agentDir, cwd: app.cwd });
		await again.terminal.waitFor("1 hook");
		writeFiles(app.cwd, { ".pi/hooks/deploy.ts": `${HOOK}\nconst more = 1;\n` });
		await again.submit("/reload");
		await again.terminal.waitFor(/changed since \d+ \w+ +\+2 −1/);
		// Keys that directly follow the Enter of the command are not meant for the question.
		skipTime(Math.ceil(PAUSE_MS / 1000));
		await again.terminal.type("v");
		await again.terminal.waitFor("const more = 1;");
		await again.terminal.press("escape");
		await again.terminal.waitFor("Run it?");
		skipTime(1);
		await again.terminal.type("n");
		await again.terminal.waitFor("was not run");
		expect(again.session().loaded.hooks.filter(({ scope }) => scope !== "bundled")).toEqual([]);
	});

	test("/trust shows the state and revokes trust", async () => {
		const app = await startApp({ files: { ".pi/hooks/deploy.ts": HOOK } });
		await app.terminal.waitFor("Run it?");
		skipTime(1);
		await app.terminal.type("y");
		await app.terminal.waitFor("1 hook");
		await app.submit("/trust");
		await app.terminal.waitFor("forget");
		expect((await app.terminal.screen()).join("\n")).toMatch(/deploy\.ts +\d+ bytes +[0-9a-f]{12} +trusted/);
		await app.terminal.press("down", "enter");
		await app.terminal.waitFor("no longer trusted");
		const again = await startApp({ agentDir: app.agentDir, cwd: app.cwd });
		await again.terminal.waitFor("Run it?");
		expect(join(again.cwd)).toBe(app.cwd);
	});
});
