import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, test, vi } from "vitest";
import { parseArgs } from "../../src/cli/args.js";
import { splitArgs } from "../../src/util/split-args.js";
import { run } from "../cli/subcommands/run.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/testing-hooks.md"), "utf8");

/** Code blocks of a language: the file name after it, and the code. */
function blocks(language: string): { name: string; code: string }[] {
	return [...page.matchAll(/^```(\w+) *(.*)\n([\s\S]*?)^```$/gm)].flatMap(([, found, name = "", code = ""]) =>
		found === language ? [{ name, code }] : [],
	);
}

/** First cells of all table rows. */
function cells(table: string): string[] {
	const [, text = ""] = page.split(`\n| ${table} | |\n|---|---|\n`);
	const rows = (text.split("\n\n")[0] ?? "").split("\n").filter((line) => line.startsWith("| "));
	return rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)/g)].map(([, name = ""]) => name));
}

const sources = blocks("ts");

describe("the example", async () => {
	// A real file next to the hook, with imports resolved to this repository: its tests become tests of this file.
	const dir = realpathSync(mkdtempSync(join(tmpdir(), "pi-docs-")));
	afterAll(() => rmSync(dir, { recursive: true, force: true }));
	const here: Record<string, string> = {
		"@mariozechner/pi-coding-agent/testing": pathToFileURL(join(root, "src/testing/index.ts")).href,
		vitest: pathToFileURL(join(root, "node_modules/vitest/dist/index.js")).href,
	};
	writeFiles(
		dir,
		Object.fromEntries(
			sources.map(({ name, code }) => [
				name,
				name.endsWith(".test.ts") ? code.replace(/(?<= from ")[^"]+/g, (module) => here[module] ?? module) : code,
			]),
		),
	);
	await import(join(dir, "notes.test.ts"));
	await import(join(dir, "shapes.test.ts"));

	test("consists of one hook and its tests", () => {
		expect(sources.map(({ name }) => name)).toEqual(["notes.ts", "notes.test.ts", "shapes.test.ts"]);
	});
});

test("pi hooks test prints what the page shows", async () => {
	const cwd = tempDir();
	writeFiles(cwd, { "notes.ts": sources[0]?.code });
	const { code, stdout } = await run({ name: "hooks", action: "test", target: "notes.ts" }, { cwd });
	expect(code).toBe(0);
	expect(stdout.replace(`${cwd}/`, "")).toBe(blocks("text")[0]?.code);
});

test("every command on the page is valid", () => {
	const lines = blocks("sh").flatMap(({ code }) => code.trimEnd().split("\n"));
	expect(lines.length).toBe(4);
	for (const line of lines)
		expect(parseArgs(splitArgs(line.replace(/^pi /, "")))).toMatchObject({ kind: "subcommand" });
});

test("the tables list every option and every member", () => {
	const source = readFileSync(join(root, "src/testing/create-hook-test.ts"), "utf8");
	const members = (name: string) => {
		const [, body = ""] = new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
		return [...body.matchAll(/^\t(?:readonly )?(\w+)\??[:(]/gm)].map(([, member = ""]) => member).sort();
	};
	expect(cells("option").sort()).toEqual(members("HookTestOptions"));
	expect(cells("member").sort()).toEqual(members("HookTest"));
});

test("the table of the session's members has their parameters, and the first row names the events that they cause", async () => {
	const source = readFileSync(join(root, "src/sdk/agent-session.ts"), "utf8");
	const folder = join(root, "src/operations");
	const operations = readdirSync(folder)
		.map((file) => readFileSync(join(folder, file), "utf8"))
		.join("\n");
	const [, table = ""] = page.split("\n| member of session | |\n|---|---|\n");
	const rows = (table.split("\n\n")[0] ?? "").split("\n").map((row) => row.split("|"));
	const documented = rows.flatMap(([, members = ""]) =>
		[...members.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code),
	);
	/** As the page writes it: a getter by its name, a method with the names of its parameters. */
	const signature = (name: string) => {
		if (new RegExp(`^\tget ${name}\\(`, "m").test(source)) return name;
		const method = new RegExp(`^\t(?:async )?${name}\\((.*?)\\)[:{ ]`, "m");
		const operation = new RegExp(
			`export const ${name} = [^]*?\\t(?:async )?run(?:: )?\\((?:session|\\{.*?\\}): \\w+(?:, )?(.*?)\\):`,
		);
		const [, parameters] = method.exec(source) ?? operation.exec(operations) ?? [];
		if (parameters === undefined) return `${name} is not a member`;
		const names = parameters.replace(/ = \{\}$/, "").replace(/(?<=\w)(\??: [^,}]+| = [^,} ]+)/g, "");
		return `${name}(${names})`;
	};
	expect(documented).toEqual(documented.map((member) => signature(member.replace(/\(.*/, ""))));
	const setters = [...(rows[0]?.[1] ?? "").matchAll(/`(\w+)/g)].map(([, name = ""]) => name);
	const caused = [...(rows[0]?.[2] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
	expect(setters).toEqual(["setModel", "setThinkingLevel", "setName"]);
	const { createHookTest } = await import("../../src/testing/index.js");
	const dir = tempDir();
	const watched = caused.map((event) => `pi.on("${event}", (_, ctx) => ctx.ui.notify("${event}"));`).join("\n");
	writeFiles(dir, { "watch.ts": `export default (pi) => {\n${watched}\n}` });
	const t = await createHookTest({ hooks: [join(dir, "watch.ts")] });
	const [model] = (await t.session.controls.availableModels()).filter(({ id }) => id !== t.session.model?.id);
	if (t.session.model) await t.session.setModel(model ?? { ...t.session.model, id: "other" });
	t.session.setThinkingLevel("low");
	t.session.setName("trial");
	await vi.waitFor(() => expect(t.notices.filter((notice) => caused.includes(notice))).toEqual(caused), 10_000);
	await t.dispose();
});
