import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHookTest, type HookTestOptions } from "../../src/testing/index.js";
import { startSession } from "../helpers/session.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface CodeBlock {
	/** The text after `ts`: the file name, or the file that is quoted. */
	file: string;
	code: string;
}

/** A page about hooks: its text, and the hooks and quotes in it. */
export class HookPage {
	readonly text: string;
	readonly hooks: readonly CodeBlock[];
	readonly quotes: readonly CodeBlock[];

	constructor(readonly name: string) {
		this.text = readFileSync(join(root, "docs", name), "utf8");
		const blocks = [...this.text.matchAll(/^```(?:ts|typescript)\b *(.*)\n([\s\S]*?)^```$/gm)].map(
			([, file = "", code = ""]) => ({ file: file.trim(), code }),
		);
		this.quotes = blocks.filter(({ file }) => file.startsWith("hooks-examples/"));
		this.hooks = blocks.filter((block) => !this.quotes.includes(block));
	}

	/** The code of a hook. */
	code(file: string): string {
		return this.hooks.find((hook) => hook.file === file)?.code ?? expect.fail(`${file} is not on ${this.name}`);
	}

	/** Starts a session with a hook from the page. */
	startSession(file: string, options: Parameters<typeof startSession>[0] = {}) {
		return startSession({ ...options, hooks: { [file]: this.code(file) } });
	}

	/** Starts the testing kit with a hook from the page. */
	async startTest(file: string, options: Omit<HookTestOptions, "hooks">) {
		const dir = tempDir();
		writeFiles(dir, { [file]: this.code(file) });
		const t = await createHookTest({ ...options, hooks: [join(dir, file)] });
		onTestFinished(() => t.dispose());
		return t;
	}

	/** Cells of the first table after a heading or another text, without its header row. */
	tableAfter(mark: string): string[][] {
		const start = this.text.indexOf(`\n${mark}`);
		if (start < 0) expect.fail(`${this.name} has no ${mark}`);
		const lines = this.text.slice(start + 1).split("\n");
		const from = lines.findIndex((line) => line.startsWith("|"));
		const to = lines.findIndex((line, i) => i > from && !line.startsWith("|"));
		return lines.slice(from + 2, to).map((line) =>
			line
				.split("|")
				.slice(1, -1)
				.map((cell) => cell.trim()),
		);
	}

	/** Defines the tests of the code on the page: one scenario for each hook. */
	testCode(scenarios: Readonly<Record<string, () => Promise<void>>>): void {
		describe(`code of ${this.name}`, () => {
			if (this.quotes.length > 0) {
				test.each(this.quotes)("the page quotes $file exactly", ({ file, code }) => {
					expect(readFileSync(join(root, file), "utf8")).toContain(code);
				});
			}
			test("a test runs every other code block as a complete hook", () => {
				expect(this.hooks.map(({ file }) => file).sort()).toEqual(Object.keys(scenarios).sort());
			});
			test.each(Object.entries(scenarios))("%s does what the page says", (_, run) => run());
		});
	}
}

const TYPES = join(root, "src/hooks/types");

/** Names of the members of an interface of the hook API, without those that it inherits. */
export function membersOf(name: string): string[] {
	for (const file of readdirSync(TYPES)) {
		const source = readFileSync(join(TYPES, file), "utf8");
		const [, body] = new RegExp(`interface ${name}(?: extends \\w+)? \\{\\n([\\s\\S]*?)\\n?\\}\\n`).exec(source) ?? [];
		if (body === undefined) continue;
		const names = [...body.matchAll(/^\t(?:readonly )?(\w+)[?(:<]/gm)].map(([, member = ""]) => member);
		return [...new Set(names)];
	}
	return expect.fail(`src/hooks/types has no interface ${name}`);
}

/** Names in the code of a table cell: `exec(command)`, `cwd` → exec, cwd. */
export function namesIn(cell = ""): string[] {
	return [...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name);
}
