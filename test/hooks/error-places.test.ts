import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeHookError } from "../../src/errors.js";
import { hookFileName } from "../../src/hooks/hook-name.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { positionOfError } from "../../src/hooks/source-position.js";
import type { AgentSessionEvent } from "../../src/session/events.js";
import { packageRoot } from "../../src/util/package-root.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";

/** Types in front of every statement, which compiling removes, so that columns of the compiled file differ. */
const SOURCE = `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
import { check } from "./lib/check";
type Wide = Map<string, Array<{ readonly a: number }>>;

export default function (pi: HookAPI): void {
	pi.on("agent_start", (event: unknown): void => { const m: Wide = new Map(); throw new Error("start"); });
	pi.on("turn_start", async (): Promise<void> => { await Promise.resolve(1 as number); check("turn" as string); });
	pi.on("agent_end", (_: { type: string }) => new Promise<void>((resolve: () => void) => {}));
	pi.on("tool_result", (() => ({ details: 10n })) as any);
	pi.on("context", ({ messages }: { messages: readonly any[] }) => ({ messages: [...messages, { role: "foo" }] }));
	pi.command("fail" as string, { handler: (ctx: { args: string[] }): never => { throw new TypeError("no " + ctx.args[0]); } });
	pi.command("assist", { complete: (prefix: string) => { throw new Error("none"); }, handler: () => {} });
	pi.command("later", { handler: (): void => { setTimeout((value: string): void => { throw new Error(value); }, 1, "late"); } });
	pi.entry("mark", { render: (entry: { type: string }): string => { throw new Error("ink"); } });
	pi.entry("part", { draws: (entry: any): boolean => entry.data.x.y, render: () => "drawn" });
	pi.entry("box", { render: (entry: unknown) => ({ invalidate() {}, render(width: number): string[] { throw new Error("paper"); } }) });
}
`;
const CHECK = `interface Options { readonly strict: boolean }
export const check = (value: string, options?: Options): never => { throw new RangeError(\`bad \${value as string}\`); };
`;

/** 1-based position of a text in a source. */
function at(source: string, text: string, inText: string): string {
	const lines = source.split("\n");
	const line = lines.findIndex((candidate) => candidate.includes(text));
	return `${line + 1}:${(lines[line] ?? "").indexOf(inText, (lines[line] ?? "").indexOf(text)) + 1}`;
}

const start = async (options: TestSessionOptions = {}) => {
	const agentDir = tempAgentDir();
	writeFiles(join(agentDir, "hooks"), { "wide.ts": SOURCE, "lib/check.ts": CHECK });
	return startSession({ agentDir, userSettings: { hookTimeout: 300 }, ...options });
};

function errors({ events }: TestSession): Extract<AgentSessionEvent, { type: "hook_error" }>[] {
	return events.filter((event) => event.type === "hook_error");
}

describe("every error of a hook names its place in the source", () => {
	test("of handlers, also in a file that the hook imports; without a stack that of the registration", async () => {
		const started = await start();
		started.provider.reply([toolCall("bash", { command: "true" })], "done");
		await started.session.prompt("go");
		const lines = new Set(errors(started).map((event) => describeHookError(event, hookFileName(event.hookPath))));
		const place = (text: string, inText: string) => at(SOURCE, text, inText);
		expect([...lines].sort()).toEqual(
			[
				`Hook wide.ts:${place('"agent_start"', "new Error")} failed on agent_start: start`,
				`Hook wide.ts failed on turn_start at lib/check.ts:${at(CHECK, "check", "new Range")}: bad turn`,
				`Hook wide.ts:${place('pi.on("agent_end"', "on(")} timed out after 300 ms (event: agent_end)`,
				`Hook wide.ts:${place('pi.on("tool_result"', "on(")} failed on tool_result: "details" is a bigint, which JSON cannot represent; the answer was ignored`,
				`Hook wide.ts:${place('pi.on("context"', "on(")} failed on context: message 0 has the unknown role foo; its answer was dropped`,
				`Hook wide.ts:${place('pi.on("context"', "on(")} failed on context: message 1 has the unknown role foo; its answer was dropped`,
				`Hook wide.ts:${place('pi.on("context"', "on(")} failed on context: message 3 has the unknown role foo; its answer was dropped`,
			].sort(),
		);
		expect(errors(started).find(({ event }) => event === "context")).toMatchObject({ rule: "known_role" });
		expect(errors(started).some((event) => "stack" in event)).toBe(false);
	});

	test("of the `context` handler whose answer was dropped, if a hook has several", async () => {
		const source = `export default (pi) => {
	pi.on("context", ({ systemPrompt }) => ({ systemPrompt }));
	pi.on("context", ({ systemPrompt }) => ({ systemPrompt: [...systemPrompt, { id: "wrong:style", text: "Be brief." }] }));
};
`;
		const agentDir = tempAgentDir({ hooks: { "pos.ts": source } });
		const started = await startSession({ agentDir });
		started.provider.reply("done");
		await started.session.prompt("go");
		expect([...new Set(errors(started).map(({ line, column }) => `${line}:${column}`))]).toEqual(["3:5"]);
	});

	test("of commands and completions", async () => {
		const started = await start();
		const place = at(SOURCE, '"fail"', "new TypeError");
		await expect(started.session.prompt("/fail it")).rejects.toThrow(
			new RegExp(`^Hook wide\\.ts:${place} failed on /fail: no it$`),
		);
		expect(await started.session.completeArguments("assist", "")).toEqual([]);
		const [failed, completion] = errors(started).filter(({ event }) => event.startsWith("/"));
		const [line, column] = place.split(":").map(Number);
		expect(failed).toMatchObject({ event: "/fail", file: failed?.hookPath, line, column });
		expect(`${completion?.line}:${completion?.column}`).toBe(at(SOURCE, '"assist"', "new Error"));
	});

	test("of renderers: the screen shows the place, and so does /hooks", async () => {
		const started = await start();
		const entry = { type: "mark", timestamp: "" };
		expect(() => started.session.entryRenderer("mark")?.(entry, PLAIN_THEME, { expanded: true })).toThrow(
			`ink (wide.ts:${at(SOURCE, '"mark"', "new Error")})`,
		);
		const drawn = started.session.entryRenderer("box")?.(entry, PLAIN_THEME, { expanded: true });
		const place = at(SOURCE, '"box"', "new Error");
		expect(() => typeof drawn === "object" && drawn.render(10)).toThrow(`paper (wide.ts:${place})`);
		const [status] = started.session.inspector.hookStatuses().filter(({ name }) => name === "wide");
		expect(status?.figures).toMatchObject({ lastError: "drawing of box: paper", lastStack: null });
		expect(`${status?.figures.lastPlace?.line}:${status?.figures.lastPlace?.column}`).toBe(place);
	});

	test("of draws: the entry is not drawn, and /hooks shows the place", async () => {
		const started = await start();
		expect(started.session.entryRenderer("part", { type: "part", timestamp: "" })).toBeUndefined();
		const [status] = started.session.inspector.hookStatuses().filter(({ name }) => name === "wide");
		expect(status?.figures.lastError).toMatch(/^drawing of part: Cannot read prop/);
		expect(`${status?.figures.lastPlace?.line}:${status?.figures.lastPlace?.column}`).toBe(
			at(SOURCE, '"part"', "x.y,"),
		);
	});

	test("of JavaScript files", async () => {
		const agentDir = tempAgentDir();
		const source = "export default (pi) => {\n\tpi.command('fail', { handler() { throw new Error('no'); } });\n};\n";
		writeFiles(agentDir, { "plain.js": source });
		const started = await startSession({ agentDir, hookFiles: [join(agentDir, "plain.js")] });
		await expect(started.session.prompt("/fail")).rejects.toThrow(
			`Hook plain.js:${at(source, "fail", "new Error")} failed on /fail: no`,
		);
	});

	test("of bundled hooks only when pi runs from source", () => {
		const placeIn = (file: string) => {
			const realPath = join(packageRoot(), file);
			const error = Object.assign(new Error("no"), { stack: `Error: no\n    at run (${realPath}:3:7)` });
			return positionOfError(error, { path: "pi:redact", realPath });
		};
		expect(placeIn("hooks-examples/redact.ts")).toEqual({ file: "pi:redact", line: 3, column: 7 });
		expect(placeIn("dist/bundled/redact.cjs")).toBeNull();
	});

	test("of timers, also after a reload without the file, and after the end of the session", async () => {
		const started = await start();
		const late = new Promise<unknown>((resolve) => {
			const old = process.listeners("uncaughtException");
			process.removeAllListeners("uncaughtException");
			process.once("uncaughtException", (error) => {
				for (const listener of old) process.on("uncaughtException", listener);
				resolve(error);
			});
		});
		await started.session.prompt("/later");
		const thrown = await late;
		const reported = () => {
			expect(started.session.blameHook(thrown)).toBe(true);
			const found = errors(started).findLast(({ event }) => event === "a timer or promise");
			return `${found?.error} ${found?.line}:${found?.column}`;
		};
		const expected = `late ${at(SOURCE, "setTimeout", "new Error")}`;
		expect(reported()).toBe(expected);
		rmSync(join(started.agentDir, "hooks", "wide.ts"));
		await started.session.prompt("/reload");
		expect(reported()).toBe(expected);
		await started.session.dispose();
		started.session.subscribe((event) => started.events.push(event));
		expect(reported()).toBe(expected);
		expect(errors(started).filter(({ event }) => event === "a timer or promise")).toHaveLength(3);
	});

	test("with verbose also the stack, with the same positions", async () => {
		const started = await start({ verbose: true });
		await expect(started.session.prompt("/fail it")).rejects.toThrow();
		const failed = errors(started).find(({ event }) => event === "/fail");
		expect(failed?.stack).toMatch(/^TypeError: no it\n {4}at /);
		expect(failed?.stack).toContain(`/wide.ts:${at(SOURCE, '"fail"', "new TypeError")}`);
		const [status] = started.session.inspector.hookStatuses().filter(({ name }) => name === "wide");
		expect(status?.figures.lastStack).toBe(failed?.stack);
	});

	test("from the cache of compiled files as well", async () => {
		const first = await start();
		const again = await startSession({ agentDir: first.agentDir });
		await expect(again.session.prompt("/fail it")).rejects.toThrow(`wide.ts:${at(SOURCE, '"fail"', "new TypeError")}`);
	});

	test.each([
		["on the first line", 'import pad from "no-such-pad";\nexport default () => pad;', "1:1"],
		[
			"below types",
			'import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";\n\nimport pad from "no-such-pad";\nexport default (_: HookAPI) => pad;',
			"3:1",
		],
		["a file", 'const a: number = 1;\nimport { b } from "./no-such-pad";\nexport default () => a + b;', "2:1"],
		["import()", 'export default async (): Promise<void> => {\n\tawait import("no-such-pad");\n};', "2:2"],
		["require()", 'const pad: object = require("no-such-pad");\nexport default () => pad;', "1:21"],
	])("of an import that does not exist: %s", async (_, source, place) => {
		const agentDir = tempAgentDir();
		const hook = join(agentDir, "hooks/a.ts");
		writeFiles(join(agentDir, "hooks"), {
			"a.ts": source,
			"b.ts": 'import lib from "./lib/pad";\nexport default lib;',
			"lib/pad.ts": source.replace("./no", "../no"),
		});
		const { session } = await startSession({ agentDir });
		const reason = /: Cannot find module '(?:\.\.?\/)?no-such-pad'$/;
		const [direct, imported] = session.loaded.warnings;
		expect(direct?.replace(reason, "")).toBe(`Hook ${hook}:${place} did not load`);
		expect(imported?.replace(reason, "")).toBe(
			`Hook ${join(agentDir, "hooks/b.ts")} did not load at lib/pad.ts:${place}`,
		);
	});

	test("of a file that does not load, also in a file that it imports", async () => {
		const agentDir = tempAgentDir();
		writeFiles(join(agentDir, "hooks"), {
			"a.ts": 'import "./lib/broken";\nexport default () => {};',
			"b.ts": 'import { check } from "./lib/check";\nexport default (pi: object): void => check("load" as string);',
			"lib/broken.ts": "export const a: number = 1;\nconst = 3;\n",
			"lib/check.ts": CHECK,
		});
		const { session } = await startSession({ agentDir });
		expect(session.loaded.warnings).toEqual([
			expect.stringMatching(/^Hook \S+\/a\.ts did not load at lib\/broken\.ts:2:\d+: /),
			`Hook ${join(agentDir, "hooks/b.ts")} did not load at lib/check.ts:${at(CHECK, "check", "new Range")}: bad load`,
		]);
	});
});
