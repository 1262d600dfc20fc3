import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { createHookTest, toolCall } from "../../../src/testing/index.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

const TSC = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

function newHook(target: string, place: Parameters<typeof run>[1] = {}, inProject = false) {
	return run({ name: "hooks", action: "new", target, inProject }, place);
}

function compile(dir: string): { code: number | null; output: string } {
	const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, "--pretty", "false", "-p", dir], {
		encoding: "utf8",
		cwd: dir,
	});
	return { code: status, output: stdout + stderr };
}

describe("pi hooks new", () => {
	test("writes a hook that loads, and prints the next steps", async () => {
		const { code, stdout, agentDir } = await newHook("count");
		const file = join(agentDir, "hooks/count.ts");
		expect(code).toBe(0);
		expect(stdout).toBe(
			[
				`Wrote ${file}`,
				`Wrote ${join(agentDir, "hooks/tests/count.test.mjs")}`,
				`Wrote ${join(agentDir, "hooks/tsconfig.json")}`,
				"",
				`Next: pi hooks check ${file}   load the hook and list what it registers`,
				`      pi hooks test ${file}    run it on a sample session`,
				`      node --test ${join(agentDir, "hooks/tests/count.test.mjs")}   run its test`,
				"      /reload in a running pi, then /count",
				"",
			].join("\n"),
		);
		const check = await run({ name: "hooks", action: "check", target: file }, { agentDir });
		expect(check).toMatchObject({
			code: 0,
			stdout: `${file} loads without errors\nevents    agent_start, tool_call\ncommands  /count\n`,
			stderr: "",
		});
		const sample = await run({ name: "hooks", action: "test", target: file }, { agentDir });
		expect(sample).toMatchObject({ code: 0, stdout: expect.stringContaining("blocked: Only the user may push") });
	});

	test("writes a hook that does what its comments say", async () => {
		const { agentDir } = await newHook("count");
		const t = await createHookTest({
			hooks: [join(agentDir, "hooks/count.ts")],
			files: { "a.txt": "a" },
			replies: [toolCall("read", { path: "a.txt" }), toolCall("bash", { command: "git push" }), "done"],
		});
		try {
			await t.run("push it");
			expect(t.requests[2]?.messages.at(-1)?.text).toBe(
				"Only the user may push. Describe what you would push instead.",
			);
			expect(await t.run("/count")).toMatchObject({ status: "2 tool calls, 7 entries in the session" });
			expect(t.errors).toEqual([]);
		} finally {
			await t.dispose();
		}
	});

	test("writes a test that runs, and fails when the hook is wrong", async () => {
		const { agentDir } = await newHook("count");
		const runTest = () =>
			spawnSync(process.execPath, ["--test", join(agentDir, "hooks/tests/count.test.mjs")], {
				encoding: "utf8",
				cwd: tempDir(),
				env: { PATH: process.env.PATH },
			});
		const passed = runTest();
		expect(passed.stdout).toContain("pass 1");
		expect(passed.status).toBe(0);
		expect(compile(join(agentDir, "hooks"))).toEqual({ code: 0, output: "" });
		const list = await run({ name: "hooks", action: "list" }, { agentDir, json: true });
		const own = JSON.parse(list.stdout).hooks.filter(({ scope }: { scope: string }) => scope !== "bundled");
		expect(own).toMatchObject([{ commands: ["count"] }]);
		writeFiles(agentDir, { "hooks/count.ts": "export default () => {};" });
		const failed = runTest();
		expect(failed.status).toBe(1);
		expect(failed.stdout).toContain("Only the user may push");
	}, 60_000);

	test("the compiler rejects a wrong call in the written test", async () => {
		const { agentDir } = await newHook("count");
		const path = "hooks/tests/count.test.mjs";
		writeFiles(agentDir, { [path]: readFileSync(join(agentDir, path), "utf8").replace("replies:", "answers:") });
		expect(compile(join(agentDir, "hooks")).output).toContain("count.test.mjs(9,");
	}, 60_000);

	test("keeps an existing test, and replaces a link to another installation", async () => {
		const agentDir = tempAgentDir({ files: { "hooks/tests/count.test.mjs": "// mine" } });
		const link = join(agentDir, "hooks/tests/node_modules/@mariozechner/pi-coding-agent");
		mkdirSync(dirname(link), { recursive: true });
		symlinkSync(tempDir(), link);
		const { stdout } = await newHook("count", { agentDir, json: true });
		expect(JSON.parse(stdout)).toMatchObject({ test: null });
		expect(readFileSync(join(agentDir, "hooks/tests/count.test.mjs"), "utf8")).toBe("// mine");
		expect(realpathSync(link)).toBe(fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, ""));
	});

	test("writes a tsconfig.json with which the compiler finds the types of pi and its packages, and rejects a wrong result", async () => {
		const { agentDir } = await newHook("count");
		const dir = join(agentDir, "hooks");
		writeFiles(dir, {
			"model.ts": `import { readFileSync } from "node:fs";
import { complete, type Model } from "@mariozechner/pi-ai";
import { defineTool } from "@mariozechner/pi-coding-agent";
import { applyRanges, type HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { createHookTest } from "@mariozechner/pi-coding-agent/testing";
import { Text } from "@mariozechner/pi-tui";
import { Type as Same } from "@sinclair/typebox";
import { Type } from "typebox";
import { Value } from "typebox/value";
export const used = [readFileSync, complete, defineTool, applyRanges, createHookTest, Text, Same.String(), Value];
export const parsed: string = Value.Parse(Type.String(), "text");
export default function (pi: HookAPI) {
	pi.on("turn_start", async (_, ctx) => {
		const model: Model<string> | null = ctx.model;
		ctx.ui.notify(String(model?.contextWindow.toFixed(0)));
	});
}
`,
		});
		expect(compile(dir)).toEqual({ code: 0, output: "" });
		writeFiles(dir, {
			"wrong.ts": `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
	pi.on("tool_call", () => ({ block: "yes" }));
	pi.on("turn_start", (_, ctx) => ctx.model?.nothing);
}
`,
		});
		const { code, output } = compile(dir);
		expect(code).not.toBe(0);
		expect(output).toContain("wrong.ts(3,");
		expect(output).toContain("wrong.ts(4,");
	}, 60_000);

	test("writes to the project with --project, and keeps an existing tsconfig.json", async () => {
		const cwd = tempDir("pi-project-");
		writeFiles(cwd, { ".pi/hooks/tsconfig.json": "{}" });
		const { stdout, agentDir } = await newHook("count.ts", { cwd }, true);
		expect(stdout).toContain(`pi hooks check ${join(".pi", "hooks", "count.ts")} `);
		expect(stdout).toContain("pi hooks trust");
		expect(existsSync(join(cwd, ".pi/hooks/count.ts"))).toBe(true);
		expect(readFileSync(join(cwd, ".pi/hooks/tsconfig.json"), "utf8")).toBe("{}");
		expect(existsSync(join(agentDir, "hooks"))).toBe(false);
	});

	test("prints the paths of the files as JSON", async () => {
		const { stdout, agentDir } = await newHook("count", { json: true });
		const dir = join(agentDir, "hooks");
		expect(JSON.parse(stdout)).toEqual({
			path: join(dir, "count.ts"),
			test: join(dir, "tests/count.test.mjs"),
			tsconfig: join(dir, "tsconfig.json"),
		});
	});

	test.each(["mine.ts", "mine/index.ts"])("does not overwrite %s", async (path) => {
		const agentDir = tempAgentDir({ files: { [`hooks/${path}`]: "// mine" } });
		await expect(newHook("mine", { agentDir })).rejects.toThrow(`${join(agentDir, "hooks", path)} already exists`);
		expect(readFileSync(join(agentDir, "hooks", path), "utf8")).toBe("// mine");
		expect(existsSync(join(agentDir, "hooks/tsconfig.json"))).toBe(false);
	});

	test("writes a hook that loads even with a umask that makes files world-writable", async () => {
		const before = process.umask(0);
		try {
			const { agentDir } = await newHook("count");
			const list = await run({ name: "hooks", action: "list" }, { agentDir });
			expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining("/count") });
		} finally {
			process.umask(before);
		}
	});

	test("rejects the name of a built-in command", async () => {
		await expect(newHook("model")).rejects.toThrow("/model is a built-in command");
	});

	test.each(["../up", "a b", "", ".hidden", "a/b"])("rejects the name %j", async (name) => {
		await expect(newHook(name)).rejects.toThrow("Invalid hook name");
	});
});

describe("the command line", () => {
	test.each([
		[["new", "a"], { action: "new", target: "a", inProject: false }],
		[["new", "a", "--project"], { action: "new", target: "a", inProject: true }],
		[["test", "a.ts"], { action: "test", target: "a.ts" }],
	])("accepts hooks %j", (argv, command) => {
		expect(parseArgs(["hooks", ...argv])).toMatchObject({ kind: "subcommand", command: { name: "hooks", ...command } });
	});

	test.each([
		[["new"], "pi hooks new <name>: missing name"],
		[["test"], "pi hooks test <file>: missing file"],
		[["check", "a.ts", "--project"], "--project works only with pi hooks new, not with check"],
		[["new", "a", "b"], 'pi hooks new: unexpected argument "b"'],
	])("rejects hooks %j", (argv, message) => {
		expect(() => parseArgs(["hooks", ...argv])).toThrow(message);
	});
});
