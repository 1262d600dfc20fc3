import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("diagnostics.ts");

/** Scripts that print a text and fail. */
function project(scripts: Record<string, string>): Record<string, unknown> {
	const files: Record<string, unknown> = {};
	const commands: Record<string, string> = {};
	for (const [name, output] of Object.entries(scripts)) {
		files[`${name}.out`] = output;
		commands[name] = `cat ${name}.out; exit 1`;
	}
	return { ...files, "src/a.ts": "let a = 1;\n", "package.json": { scripts: commands } };
}

const EDIT = toolCall("edit", { path: "src/a.ts", oldText: "1", newText: "2" });

/** The tool result of an edit of src/a.ts. */
async function editResult(test: TestSession): Promise<string> {
	test.provider.reply([EDIT], "done");
	await test.session.prompt("edit it");
	return test.provider.requests.at(-1)?.messages.at(-1)?.text ?? "";
}

describe("after an edit", () => {
	test("the tool result contains the findings of type checker and linter for that file only", async () => {
		const test = await startSession({
			hookFiles: [HOOK],
			files: project({
				typecheck: [
					"lib/src/a.ts(9,9): error of another file",
					"src/a.ts(1,5): error TS2322: Type 'x' is not",
					"  assignable to type 'y'.",
					"src/a.tsx(1,1): error of yet another file",
					"",
				].join("\n"),
				lint: "\x1b[4m/elsewhere/b.ts\x1b[0m\n  1:1  error  not this\n\n\x1b[4mCWD/src/a.ts\x1b[0m\n  1:5  error  Use const  prefer-const\n\n✖ 2 problems\n",
			}),
		});
		const lint = join(test.cwd, "lint.out");
		writeFileSync(lint, readFileSync(lint, "utf8").replace("CWD", test.cwd));
		const result = await editResult(test);
		expect(result.slice(result.indexOf("typecheck reports"))).toBe(
			[
				"typecheck reports for src/a.ts:",
				"src/a.ts(1,5): error TS2322: Type 'x' is not",
				"  assignable to type 'y'.",
				"",
				"lint reports for src/a.ts:",
				`${test.cwd}/src/a.ts`,
				"  1:5  error  Use const  prefer-const",
			].join("\n"),
		);
		expect(readFileSync(join(test.cwd, "src/a.ts"), "utf8")).toBe("let a = 2;\n");
	});

	test("a write is checked too, and long findings are truncated", async () => {
		const lines = Array.from({ length: 50 }, (_, n) => `./new.ts:${n}:1 wrong`).join("\n");
		const test = await startSession({ hookFiles: [HOOK], files: project({ check: lines }) });
		test.provider.reply([toolCall("write", { path: "new.ts", content: "x" })], "done");
		await test.session.prompt("write it");
		const result = test.provider.requests[1]?.messages.at(-1)?.text ?? "";
		expect(result).toContain("check reports for new.ts:\n./new.ts:0:1 wrong\n");
		expect(result.trimEnd()).toMatch(/\.\/new\.ts:29:1 wrong\n\[… truncated\]$/);
	});

	test.each([
		["there are no findings", { "package.json": { scripts: { lint: "cat src/a.ts; echo src/a.ts: fine" } } }],
		["only other files have findings", project({ lint: "src/b.ts:1:1 wrong\n" })],
		["the program is missing", { "package.json": { scripts: { lint: "no-such-linter src/a.ts" } } }],
		["the project has no such script", { "package.json": { scripts: { build: "echo src/a.ts; exit 1" } } }],
		["package.json is invalid", { "package.json": "{ nonsense" }],
		["there is no package.json", {}],
	])("nothing is added when %s", async (_, files) => {
		const test = await startSession({ hookFiles: [HOOK], files: { "src/a.ts": "let a = 1;\n", ...files } });
		expect(await editResult(test)).not.toContain("reports for");
		expect(test.notices()).toEqual([]);
	});

	test.each([
		["", async () => {}],
		[", not even after /reload", async (test: TestSession) => void (await test.session.prompt("/reload"))],
		[
			", not even after the hook was off",
			async ({ session }: TestSession) => {
				for (const isOn of [false, true]) await session.inspector.setHookEnabled(HOOK, isOn);
			},
		],
	])("scripts changed since the start do not run%s", async (_, between) => {
		const test = await startSession({ hookFiles: [HOOK], files: project({ lint: "src/a.ts:1:1 wrong\n" }) });
		writeFileSync(join(test.cwd, "package.json"), JSON.stringify({ scripts: { lint: "touch ran; exit 1" } }));
		await between(test);
		expect(await editResult(test)).not.toContain("reports for");
		expect(() => readFileSync(join(test.cwd, "ran"))).toThrow();
	});

	test("a failed edit is not checked", async () => {
		const test = await startSession({ hookFiles: [HOOK], files: project({ lint: "src/a.ts:1:1 wrong\n" }) });
		test.provider.reply([toolCall("edit", { path: "src/a.ts", oldText: "absent", newText: "x" })], "done");
		await test.session.prompt("edit it");
		expect(test.provider.requests[1]?.messages.at(-1)?.text).not.toContain("reports for");
	});

	test("escape aborts the check", async () => {
		const test = await startSession({
			hookFiles: [HOOK],
			files: { "src/a.ts": "let a = 1;\n", "package.json": { scripts: { lint: "echo started > started; sleep 60" } } },
		});
		test.provider.reply([EDIT], "done");
		const run = test.session.prompt("edit it");
		await expect.poll(() => readFileSync(join(test.cwd, "started"), "utf8"), { timeout: 10_000 }).toBe("started\n");
		await test.session.abort();
		await run;
		expect(test.provider.requests).toHaveLength(1);
	});
});
