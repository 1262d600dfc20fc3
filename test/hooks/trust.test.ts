import {
	chmodSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { TrustAnswer } from "../../src/trust/gate.js";
import type { ProjectSet } from "../../src/trust/store.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";

/** Traces of the code under test; empty at the start of each test. */
function traces(): string[] {
	const left: string[] = [];
	Reflect.set(globalThis, "__traces", left);
	onTestFinished(() => {
		Reflect.deleteProperty(globalThis, "__traces");
	});
	return left;
}

const leave = (text: string) => `globalThis.__traces.push(${JSON.stringify(text)});`;
const hook = (text: string) => `${leave(text)}\nexport default () => {};\n`;
const tool = (name: string) =>
	`
${leave(`tool ${name}`)}
export default { name, description: "d", parameters: { type: "object", properties: {} },
	async run() { return { content: [{ type: "text", text: "from ${name}" }] }; } };
`.replace("{ name,", `{ name: "${name}",`);

function askers(...answers: TrustAnswer[]) {
	const questions: ProjectSet[] = [];
	return {
		questions,
		askTrust: async (set: ProjectSet): Promise<TrustAnswer> => {
			questions.push(set);
			return answers.shift() ?? "no";
		},
	};
}

describe("the question", () => {
	test("covers hooks and tools, and appears after the user's hooks load and before project code runs", async () => {
		const left = traces();
		let before: string[] = [];
		const { session, provider } = await startSession({
			hooks: { "own.ts": hook("own") },
			files: { ".pi/hooks/p.ts": hook("project"), ".pi/tools/greet/index.ts": tool("greet") },
			askTrust: async (set) => {
				before = [...left, ...set.files.map(({ rel }) => rel)];
				return "once";
			},
		});
		expect(before).toEqual(["own", ".pi/hooks/p.ts", ".pi/tools/greet/index.ts"]);
		expect(left).toEqual(["own", "tool greet", "project"]);
		provider.reply({ content: [toolCall("greet", {})] }, "done");
		await session.prompt("greet me");
		expect(JSON.stringify(provider.requests[0])).toContain("greet");
		expect(provider.requests[1]?.messages.at(-1)?.text).toContain("from greet");
	});

	test("answered with no excludes hooks and tools from every request, with one notice", async () => {
		const left = traces();
		const { session, provider, notices } = await startSession({
			files: { ".pi/hooks/p.ts": hook("project"), ".pi/tools/greet/index.ts": tool("greet") },
			askTrust: askers("no").askTrust,
		});
		provider.reply("fine");
		await session.prompt("hi");
		expect(left).toEqual([]);
		expect(JSON.stringify(provider.requests[0])).not.toContain("greet");
		expect(session.loaded.warnings).toEqual([expect.stringMatching(/p\.ts, .*greet\/index\.ts.*\/reload asks again/)]);
		expect(notices()).toEqual(session.loaded.warnings);
	});

	test("answered for this run only stores nothing, and a reload of the same contents does not ask again", async () => {
		const left = traces();
		const asked = askers("once", "no");
		const { session, agentDir, cwd } = await startSession({
			files: { ".pi/hooks/p.ts": hook("v1") },
			askTrust: asked.askTrust,
		});
		await session.reload();
		expect(asked.questions.length).toBe(1);
		expect(left).toEqual(["v1", "v1"]);
		expect(() => readFileSync(join(agentDir, "trust.json"))).toThrow();
		await startSession({ agentDir, cwd });
		expect(left).toEqual(["v1", "v1"]);
	});

	test("appears again after a reload if a file changed or was added, and a no unloads the code", async () => {
		const left = traces();
		const asked = askers("trust", "trust", "no");
		const { session, cwd } = await startSession({ files: { ".pi/hooks/p.ts": hook("v1") }, askTrust: asked.askTrust });
		writeFiles(cwd, { ".pi/hooks/p.ts": hook("v2"), ".pi/hooks/q.ts": hook("added") });
		expect(left).toEqual(["v1"]);
		await session.reload();
		expect(asked.questions[1]?.files.map(({ rel, state, trustedText }) => [rel, state, trustedText])).toEqual([
			[".pi/hooks/p.ts", "changed", hook("v1")],
			[".pi/hooks/q.ts", "new", undefined],
		]);
		expect(left).toEqual(["v1", "v2", "added"]);
		writeFiles(cwd, { ".pi/hooks/q.ts": hook("worse") });
		await session.reload();
		expect(left).toEqual(["v1", "v2", "added"]);
		expect(session.loaded.hooks).toEqual([]);
	});

	test("a project hook named with --hook runs whatever the answer", async () => {
		const left = traces();
		const cwd = tempDir();
		writeFiles(cwd, { ".pi/hooks/p.ts": hook("named"), ".pi/hooks/q.ts": hook("other") });
		const { session } = await startSession({
			cwd,
			hookFiles: [join(cwd, ".pi/hooks/p.ts")],
			askTrust: askers("no").askTrust,
		});
		expect(left).toEqual(["named"]);
		expect(session.loaded.hooks.map(({ scope }) => scope)).toEqual(["flag"]);
	});

	test("a project tool can be selected by name, and is unknown if it is not trusted", async () => {
		traces();
		const files = { ".pi/tools/greet/index.ts": tool("greet") };
		const { session, provider } = await startSession({ files, tools: ["read", "greet"], trust: true });
		provider.reply("fine");
		await session.prompt("hi");
		expect(JSON.stringify(provider.requests[0])).toContain("greet");
		await expect(startSession({ files, tools: ["greet"] })).rejects.toMatchObject({ code: "tool_unknown" });
	});

	test("project settings cannot define hooks, tools or a shell", async () => {
		const left = traces();
		const { session } = await startSession({
			files: {
				".pi/settings.json": {
					hooks: ["../evil.ts"],
					customTools: ["../evil.ts"],
					shellPath: "./evil.sh",
					hookGrants: { "evil.ts": ["systemItems"] },
				},
				"evil.ts": hook("evil"),
			},
			trust: true,
		});
		expect(left).toEqual([]);
		expect(session.settings).toMatchObject({ hooks: [], hookGrants: {} });
		expect(session.settings.shellPath).toBeUndefined();
		expect(session.loaded.warnings.join("\n")).toMatch(/hooks.*shellPath|shellPath.*hooks/s);
	});
});

describe("pi runs exactly the files that it showed", () => {
	const IMPORTER = `import { text } from "../../lib/part.js";\nglobalThis.__traces.push(text);\nexport default () => {};\n`;
	const part = (text: string) => `export const text: string = ${JSON.stringify(text)};\n`;

	test("a hook and its imports that change between question and load", async () => {
		const left = traces();
		const cwd = tempDir();
		writeFiles(cwd, { ".pi/hooks/a.ts": hook("shown"), ".pi/hooks/b.ts": IMPORTER, "lib/part.ts": part("shown part") });
		await startSession({
			cwd,
			askTrust: async () => {
				writeFiles(cwd, { ".pi/hooks/a.ts": hook("swapped"), "lib/part.ts": part("swapped part") });
				return "trust";
			},
		});
		expect(left).toEqual(["shown", "shown part"]);
	});

	test("a link that is redirected between question and load", async () => {
		const left = traces();
		const cwd = tempDir();
		const outside = tempDir();
		writeFiles(outside, { "good.ts": hook("good"), "evil.ts": hook("evil") });
		writeFiles(cwd, { ".pi/hooks/other.ts": hook("other") });
		const link = join(cwd, ".pi/hooks/linked.ts");
		symlinkSync(join(outside, "good.ts"), link);
		const { session } = await startSession({
			cwd,
			askTrust: async () => {
				rmSync(link);
				symlinkSync(join(outside, "evil.ts"), link);
				return "once";
			},
		});
		expect(left).toEqual(["good", "other"]);
		expect(session.loaded.hooks.map(({ path }) => path)).toEqual([link, join(cwd, ".pi/hooks/other.ts")]);
	});

	test("a .pi link that is redirected between question and load", async () => {
		const left = traces();
		const cwd = tempDir();
		const elsewhere = tempDir();
		writeFiles(elsewhere, {
			"good/hooks/a.ts": 'import "./b.js";\nexport default () => {};',
			"evil/hooks/a.ts": hook("evil"),
		});
		writeFiles(elsewhere, { "good/hooks/b.ts": hook("good b") });
		symlinkSync(join(elsewhere, "good"), join(cwd, ".pi"));
		await startSession({
			cwd,
			askTrust: async () => {
				rmSync(join(cwd, ".pi"));
				symlinkSync(join(elsewhere, "evil"), join(cwd, ".pi"));
				return "once";
			},
		});
		expect(left).toEqual(["good b", "good b"]);
	});

	test("a file that rewrites itself and other files when it runs", async () => {
		const left = traces();
		const cwd = tempDir();
		const evil = join(cwd, ".pi/hooks/b.ts");
		writeFiles(cwd, {
			".pi/hooks/a.ts": `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(evil)}, ${JSON.stringify(hook("evil"))});\n${hook("a")}`,
			".pi/hooks/b.ts": hook("b"),
		});
		const { agentDir } = await startSession({ cwd, askTrust: askers("trust").askTrust });
		expect(left).toEqual(["a", "b"]);
		const later = await startSession({ cwd, agentDir });
		expect(left).toEqual(["a", "b"]);
		expect(later.session.loaded.warnings).toEqual([expect.stringContaining("b.ts")]);
	});

	test("a project file that is imported when a handler runs", async () => {
		const left = traces();
		const cwd = tempDir();
		writeFiles(cwd, {
			".pi/hooks/a.ts": `export default (pi) => pi.command("late", { async handler() {
				globalThis.__traces.push((await import("../../lib/part.ts")).text); } });`,
			"lib/part.ts": part("shown"),
		});
		const { session } = await startSession({ cwd, askTrust: askers("once").askTrust });
		writeFiles(cwd, { "lib/part.ts": part("swapped") });
		await session.prompt("/late");
		expect(left).toEqual(["shown"]);
	});

	test("a file that was not shown cannot be imported by a computed name", async () => {
		const left = traces();
		const cwd = tempDir();
		writeFiles(cwd, {
			".pi/hooks/a.ts": `const name = ["..", "..", "lib", "evil.ts"].join("/");\n${leave("a")}\nexport default async () => { await import(name); };`,
			"lib/evil.ts": hook("evil"),
		});
		const asked = askers("once");
		const { session } = await startSession({ cwd, askTrust: asked.askTrust });
		expect(left).toEqual(["a"]);
		expect(asked.questions[0]?.unresolved).toEqual([
			{ from: ".pi/hooks/a.ts", specifier: "import(…)", reason: "computed at run time" },
		]);
		expect(session.loaded.warnings.join()).toContain(`Hook ${join(cwd, ".pi/hooks/a.ts")}`);
	});

	test("packages resolve to those of the project; data files next to the hook are copied", async () => {
		const left = traces();
		const parent = tempDir();
		const cwd = join(parent, "packages", "app");
		writeFiles(parent, {
			"node_modules/far/index.js": 'module.exports = "far";',
			"packages/app/node_modules/near/index.js": 'module.exports = "near";',
			"packages/app/.pi/hooks/pack/node_modules/inner/index.js": 'module.exports = "inner";',
			"packages/app/.pi/hooks/pack/prompt.md": "text",
			"packages/app/.pi/hooks/pack/index.ts": `
				import { readFileSync } from "node:fs";
				import far from "far"; import near from "near"; import inner from "inner";
				const text = readFileSync(new URL("./prompt.md", import.meta.url), "utf8");
				globalThis.__traces.push(far, near, inner, text);
				export default () => {};`,
		});
		await startSession({ cwd, askTrust: askers("once").askTrust });
		expect(left).toEqual(["far", "near", "inner", "text"]);
	});

	test("errors and the list of hooks name the project's paths", async () => {
		traces();
		const { session, cwd } = await startSession({
			files: {
				".pi/hooks/bad.ts": "export default function () {\n  throw new Error('no luck');\n}",
				".pi/hooks/lost.ts": 'import "./nowhere.js";\nexport default () => {};',
				".pi/hooks/ok.ts": "export default () => {};",
			},
			trust: true,
		});
		expect(session.loaded.hooks.map(({ path }) => path)).toEqual([join(cwd, ".pi/hooks/ok.ts")]);
		expect(session.loaded.warnings[0]).toContain(`Hook ${join(cwd, ".pi/hooks/bad.ts")}:2:9 did not load: no luck`);
		expect(session.loaded.warnings[1]).toContain("lost.ts");
		expect(session.loaded.warnings.join()).not.toContain("cache");
	});
});

describe("trust", () => {
	test("applies to contents: changed code, or another project at the same path, does not run", async () => {
		const left = traces();
		const parent = tempDir();
		const cwd = join(parent, "project");
		writeFiles(cwd, { ".pi/hooks/a.ts": hook("good"), ".pi/tools/t/index.ts": tool("t") });
		const { agentDir } = await startSession({ cwd, askTrust: askers("trust").askTrust });
		await startSession({ cwd, agentDir });
		expect(left).toEqual(["tool t", "good", "tool t", "good"]);
		left.length = 0;
		writeFiles(cwd, { ".pi/tools/t/index.ts": tool("poisoned") });
		await startSession({ cwd, agentDir });
		renameSync(cwd, join(parent, "away"));
		writeFiles(cwd, { ".pi/hooks/a.ts": hook("another project") });
		await startSession({ cwd, agentDir });
		expect(left).toEqual([]);
	});

	test("an unreadable trust.json trusts nothing and is reported; an answer renames it", async () => {
		const left = traces();
		const agentDir = tempAgentDir();
		writeFileSync(join(agentDir, "trust.json"), "{ broken");
		const { session } = await startSession({ agentDir, files: { ".pi/hooks/a.ts": hook("a") } });
		expect(left).toEqual([]);
		expect(session.loaded.warnings).toEqual([expect.stringContaining("trust.json"), expect.stringContaining("a.ts")]);
		const asked = await startSession({
			agentDir,
			files: { ".pi/hooks/a.ts": hook("a") },
			askTrust: askers("trust").askTrust,
		});
		expect(left).toEqual(["a"]);
		expect(asked.session.loaded.warnings.join("\n")).toContain("pi renamed it to");
	});

	test("the code of a project over the size limit never runs, whatever the answer", async () => {
		const left = traces();
		const cwd = tempDir();
		const many = Array.from({ length: 1001 }, (_, index) => [`.pi/hooks/n${index}.md`, "x"]);
		writeFiles(cwd, { ".pi/hooks/a.ts": hook("a"), ...Object.fromEntries(many) });
		const { session } = await startSession({ cwd, trust: true });
		expect(left).toEqual([]);
		expect(session.loaded.warnings).toEqual([expect.stringContaining("more than 1000 files")]);
	});
});

test("compiled code is stored in a private directory, even if it was writable for others before", async () => {
	const agentDir = tempAgentDir();
	const cache = join(agentDir, "cache", "jiti");
	mkdirSync(cache, { recursive: true });
	chmodSync(cache, 0o777);
	const { session } = await startSession({ agentDir, hooks: { "a.ts": "export default () => {};" } });
	expect(session.loaded.hooks.length).toBe(1);
	expect(statSync(cache).mode & 0o777).toBe(0o700);
	const [code = "", ...others] = readdirSync(cache).sort();
	expect(code).toMatch(/^a\.ts\.\w+\.js$/);
	expect(others).toEqual([`${code}.map`]);
});

test("a hook reads a file next to it as documented", async () => {
	const page = readFileSync(new URL("../../docs/trust.md", import.meta.url), "utf8");
	const code = /^```ts prompt\.ts\n([\s\S]*?)^```$/m.exec(page)?.[1];
	const { session, provider, sent } = await startSession({
		files: { ".pi/hooks/prompt.ts": code, ".pi/hooks/prompt.md": "Look for races." },
		trust: true,
	});
	provider.reply("none");
	await session.prompt("/review");
	expect(sent(1)).toEqual(["user: Look for races."]);
});

describe("/trust", () => {
	test("shows the state, asks again and revokes trust", async () => {
		const left = traces();
		const asked = askers("trust", "no");
		const { session, agentDir, cwd, events } = await startSession({
			files: { ".pi/hooks/a.ts": hook("a") },
			askTrust: asked.askTrust,
		});
		const shown = await session.prompt("/trust");
		expect(shown).toMatchObject({
			kind: "command",
			status: expect.stringMatching(/a\.ts +\d+ bytes +[0-9a-f]{12} +trusted\nTrusted on /),
		});
		await session.prompt("/trust ask");
		expect(asked.questions.length).toBe(2);
		expect(session.loaded.hooks).toEqual([]);
		await session.prompt("/trust forget");
		expect(events.at(-1)).toMatchObject({ message: expect.stringContaining("no longer trusted") });
		await startSession({ agentDir, cwd });
		expect(left).toEqual(["a"]);
		await expect(session.prompt("/trust never")).rejects.toMatchObject({ code: "bad_arguments" });
	});
});
