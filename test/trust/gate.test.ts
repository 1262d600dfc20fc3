import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collectProjectCode } from "../../src/trust/code-files.js";
import { copyProjectCode } from "../../src/trust/copies.js";
import { ProjectGate, type TrustAnswer } from "../../src/trust/gate.js";
import type { ProjectSet } from "../../src/trust/store.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

function project(files: Record<string, string>) {
	const cwd = tempDir();
	writeFiles(cwd, files);
	return { cwd, base: join(tempDir(), "copies") };
}

const modes = (dir: string): Set<number> =>
	new Set(
		readdirSync(dir, { recursive: true, withFileTypes: true })
			.filter((entry) => !entry.isSymbolicLink())
			.map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o777),
	);

describe("the copy of accepted code", () => {
	test("holds the bytes that were read, readable only by the owner, even if the project changes", async () => {
		const { cwd, base } = project({ ".pi/hooks/a.ts": "a", "lib/b.ts": "b", ".pi/hooks/c.ts": 'import "../../lib/b"' });
		const code = await collectProjectCode(cwd);
		writeFiles(cwd, { ".pi/hooks/a.ts": "changed" });
		const copies = copyProjectCode(code, base);
		expect([...copies.keys()]).toEqual(code.files.map(({ realPath }) => realPath));
		for (const { realPath, bytes } of code.files) {
			const copy = copies.get(realPath) ?? "";
			expect(copy.startsWith(base) && copy.endsWith(realPath)).toBe(true);
			expect(readFileSync(copy)).toEqual(bytes);
		}
		expect(modes(base)).toEqual(new Set([0o700, 0o600]));
		expect(statSync(base).mode & 0o777).toBe(0o700);
	});

	test("is reused for equal code and rewritten when anything in it differs", async () => {
		const { cwd, base } = project({ ".pi/hooks/a.ts": "a" });
		const code = await collectProjectCode(cwd);
		const path = join(cwd, ".pi/hooks/a.ts");
		const copy = copyProjectCode(code, base).get(path) ?? "";
		const { ino } = statSync(copy);
		expect(copyProjectCode(code, base).get(path)).toBe(copy);
		expect(statSync(copy).ino).toBe(ino);

		const tamper = [
			() => writeFileSync(copy, "tampered"),
			() => writeFileSync(join(copy, "../planted.js"), "planted"),
			() => rmSync(copy),
			() => {
				rmSync(copy);
				symlinkSync("/etc/hostname", copy);
			},
		];
		for (const change of tamper) {
			change();
			copyProjectCode(code, base);
			expect(readFileSync(copy, "utf8")).toBe("a");
			expect(readdirSync(join(copy, ".."))).toEqual(["a.ts"]);
		}
		expect(readdirSync(base).length).toBe(1);
	});

	test("keeps links among the files and gives access to the project's packages", async () => {
		const { cwd, base } = project({ "lib/a.ts": "a", "node_modules/p/index.js": "p", ".pi/hooks/b.ts": "b" });
		symlinkSync("../../lib/a.ts", join(cwd, ".pi/hooks/a.ts"));
		const copies = copyProjectCode(await collectProjectCode(cwd), base);
		const copy = copies.get(join(cwd, "lib/a.ts")) ?? "";
		const root = copy.slice(0, -"/lib/a.ts".length);
		expect(readFileSync(join(root, ".pi/hooks/a.ts"), "utf8")).toBe("a");
		expect(readFileSync(join(root, "node_modules/p/index.js"), "utf8")).toBe("p");
		writeFiles(cwd, { "lib/a.ts": "later" });
		expect(readFileSync(join(root, ".pi/hooks/a.ts"), "utf8")).toBe("a");
	});

	test("is removed after a month without use; others are kept", async () => {
		const { cwd, base } = project({ ".pi/hooks/a.ts": "a" });
		const month = 31 * 24 * 60 * 60;
		for (const name of ["old", "recent"]) mkdirSync(join(base, name), { recursive: true });
		utimesSync(join(base, "old"), Date.now() / 1000 - month, Date.now() / 1000 - month);
		copyProjectCode(await collectProjectCode(cwd), base);
		expect(existsSync(join(base, "old"))).toBe(false);
		expect(existsSync(join(base, "recent"))).toBe(true);
	});

	test("differs for any difference in the code", async () => {
		const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array));
		const { createHash } = await import("node:crypto");
		const base = join(tempDir(), "copies");
		const codeOf = (rel: string, content: Buffer) => ({
			root: "/project",
			unresolved: [],
			files: [
				{
					rel,
					realPath: `/project/${rel}`,
					bytes: content,
					sha256: createHash("sha256").update(content).digest("hex"),
					size: content.length,
				},
			],
		});
		fc.assert(
			fc.property(bytes, bytes, (one, other) => {
				const path = "/project/a.ts";
				const first = copyProjectCode(codeOf("a.ts", one), base).get(path) ?? "";
				const second = copyProjectCode(codeOf("a.ts", other), base).get(path) ?? "";
				expect(first === second).toBe(one.equals(other));
				expect(readFileSync(first)).toEqual(one);
				expect(readFileSync(second)).toEqual(other);
			}),
			{ numRuns: 30 },
		);
	});
});

describe("the gate", () => {
	function gate(cwd: string, options: { agentDir?: string; trust?: boolean; answers?: TrustAnswer[] } = {}) {
		const { agentDir = tempDir(), trust, answers } = options;
		const questions: ProjectSet[] = [];
		const warnings: string[] = [];
		const made = new ProjectGate({
			cwd,
			agentDir,
			copyDir: join(agentDir, "copies"),
			trust,
			...(answers && {
				ask: async (set: ProjectSet) => {
					questions.push(set);
					return answers.shift() ?? "no";
				},
			}),
		});
		return { agentDir, questions, warnings, gate: made, accept: () => made.accept((line) => warnings.push(line)) };
	}

	test("says what to remove when there is more code than can be checked", async () => {
		const hooks = project(Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`.pi/hooks/${at}.ts`, ""])));
		const names = Array.from({ length: 51 }, (_, at) => `d${at}`);
		const mcpServers = Object.fromEntries(names.map((name) => [name, { command: "x", args: [name] }]));
		const dirs = Object.fromEntries(names.map((name) => [`${name}/a.py`, ""]));
		const servers = project({ ...dirs, ".mcp.json": JSON.stringify({ mcpServers }) });
		const warned = async ({ cwd }: { cwd: string }) => {
			const { accept, warnings } = gate(cwd, { answers: ["trust"] });
			expect(await accept()).toBeNull();
			return warnings;
		};
		expect(await warned(hooks)).toEqual([
			"Project code was not run: it has more than 1000 files · remove files that do not belong in .pi",
		]);
		expect(await warned(servers)).toEqual([
			"Project code was not run: it has MCP servers that name more than 50 directories · " +
				"remove the MCP server that needs them from mcp.json, or what it does not need",
		]);
	});

	test("runs no new code without a user to ask, and the warning names the files and --trust", async () => {
		const { cwd } = project(Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`.pi/hooks/${at}.ts`, "x"])));
		const { accept, warnings, agentDir } = gate(cwd);
		expect(await accept()).toBeNull();
		expect(warnings).toEqual([expect.stringMatching(/0\.ts, .*3\.ts and 2 more · .*--trust/)]);
		expect(existsSync(join(agentDir, "trust.json"))).toBe(false);
	});

	test("runs the code with --trust and stores nothing", async () => {
		const { cwd } = project({ ".pi/hooks/a.ts": "x" });
		const { accept, agentDir } = gate(cwd, { trust: true });
		expect((await accept())?.size).toBe(1);
		expect(existsSync(join(agentDir, "trust.json"))).toBe(false);
	});

	test("applies an answer that cannot be stored to this process and reports it", async () => {
		const { cwd } = project({ ".pi/hooks/a.ts": "x" });
		const agentDir = tempDir();
		mkdirSync(join(agentDir, "trust.json"));
		const { accept, warnings } = gate(cwd, { agentDir, answers: ["trust"] });
		expect((await accept())?.size).toBe(1);
		expect(warnings.at(-1)).toContain("for this run only");
	});

	test("runs nothing when the copy cannot be written", async () => {
		const { cwd } = project({ ".pi/hooks/a.ts": "x" });
		const agentDir = tempDir();
		writeFileSync(join(agentDir, "copies"), "in the way");
		const { accept, warnings } = gate(cwd, { agentDir, trust: true });
		expect(await accept()).toBeNull();
		expect(warnings).toEqual([expect.stringContaining("Project code was not run")]);
	});

	test("shows invisible characters of file names in warnings and in the state", async () => {
		const { cwd } = project({ ".pi/hooks/a\u202e.ts": "x" });
		const { accept, warnings, gate: made } = gate(cwd);
		await accept();
		expect(warnings.join()).toContain("a‹U+202E›.ts");
		expect((await made.describe()).join()).toContain("a‹U+202E›.ts");
	});

	test("describes each file, and a project without code", async () => {
		const { cwd } = project({ ".pi/hooks/a.ts": "x" });
		const { accept, gate: made } = gate(cwd, { answers: ["trust"] });
		expect((await made.describe()).at(-1)).toBe("Nothing in this project is trusted");
		await accept();
		writeFiles(cwd, { ".pi/hooks/b.ts": "y" });
		expect(await made.describe()).toEqual([
			expect.stringMatching(/a\.ts +1 bytes +[0-9a-f]{12} +trusted$/),
			expect.stringMatching(/b\.ts +1 bytes +[0-9a-f]{12} +new$/),
			expect.stringMatching(/^Trusted on \d{4}-\d\d-\d\d$/),
		]);
		expect(await made.forget()).toBe(true);
		const bare = tempDir();
		expect(await gate(bare).gate.describe()).toEqual([`${bare} has no hooks, tools, agents or MCP servers of its own`]);
	});
});
