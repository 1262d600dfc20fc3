import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { claudeCalls, ownInput } from "../../hooks-examples/claude-hooks/calls.js";
import { createMatcher } from "../../hooks-examples/claude-hooks/config.js";
import type { HookEventContext } from "../../src/hooks/index.js";
import { isMessageEntry } from "../../src/log/entry.js";
import { meantCall } from "../../src/tools/foreign-calls.js";
import { BUILTIN_TOOLS } from "../../src/tools/index.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";
import { answerBySystemPrompt, callAgent, SCOUT } from "./sub-agents.js";

interface Options extends TestSessionOptions {
	/** The user's hooks of Claude Code. */
	hooksOf?: Record<string, unknown>;
	/** The answer to questions of hooks. */
	confirms?: boolean;
}

type Session = TestSession & { shown: string[]; asked: string[] };

async function start({ hooksOf, confirms = false, hookFiles = [], ...options }: Options = {}): Promise<Session> {
	const agentDir = options.agentDir ?? tempAgentDir();
	if (hooksOf) writeFiles(join(agentDir, "claude-hooks"), { "settings.json": { hooks: hooksOf } });
	const shown: string[] = [];
	const asked: string[] = [];
	const ui = {
		notify: (message: string) => void shown.push(message),
		confirm: async (title: string, text?: string) => {
			asked.push(`${title} ${text}`);
			return confirms;
		},
	};
	const t = await startSession({
		ui,
		...options,
		agentDir,
		hookFiles: [...hookFiles, example("claude-hooks.ts")],
	});
	return { ...t, shown, asked };
}

const group = (command: string, more: object = {}, hook: object = {}) => ({
	...more,
	hooks: [{ type: "command", command, ...hook }],
});
/** Writes the event to a file. */
const LOG = 'cat >> "$CLAUDE_PROJECT_DIR"/log.jsonl';
const print = (json: object) => `cat > /dev/null; echo '${JSON.stringify(json)}'`;
const refuse = (reason: string) => `cat > /dev/null; echo '${reason}' >&2; exit 2`;

function logged({ cwd }: TestSession): Record<string, unknown>[] {
	const path = join(cwd, "log.jsonl");
	if (!existsSync(path)) return [];
	return readFileSync(path, "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
}

function lastResult({ session }: TestSession): string {
	const entry = session.entries.findLast((entry) => isMessageEntry(entry) && entry.message.role === "toolResult");
	if (!isMessageEntry(entry) || entry.message.role !== "toolResult") return expect.fail("no result");
	return entry.message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Lets the model call a tool. @returns the result that it receives */
async function call(t: TestSession, name: string, args: object): Promise<string> {
	t.provider.reply([toolCall(name, { ...args })], "done");
	await t.session.prompt("go");
	return lastResult(t);
}

test("exit code 2 of PreToolUse blocks the call, and the model receives stderr", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group(refuse("use rg"), { matcher: "Bash" })] } });
	expect(await call(t, "bash", { command: "touch a" })).toBe("use rg");
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
	expect(await call(t, "write", { path: "b", content: "" })).toContain("b");
	expect(existsSync(join(t.cwd, "b"))).toBe(true);
});

test("a command reads the call as that of Claude Code, with absolute paths and milliseconds", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group(LOG)], PostToolUse: [group(LOG)] } });
	await call(t, "bash", { command: "echo hi", timeout: 5 });
	await call(t, "write", { path: "a.txt", content: "one two" });
	const common = {
		permission_mode: "default",
		transcript_path: "",
		cwd: t.cwd,
		session_id: Object(t.session.entries[0]).id,
	};
	expect(logged(t)).toMatchObject([
		{ ...common, hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "echo hi", timeout: 5000 } },
		{
			...{ hook_event_name: "PostToolUse", tool_name: "Bash" },
			tool_response: { stdout: expect.stringContaining("hi"), interrupted: false },
		},
		{ tool_name: "Write", tool_input: { file_path: join(t.cwd, "a.txt"), content: "one two" } },
		{ tool_name: "Write", tool_response: { filePath: join(t.cwd, "a.txt"), success: true } },
	]);
});

test("an edit with several replacements is one Edit for each, and one MultiEdit for a matcher that names only that", async () => {
	const t = await start({
		files: { "a.txt": "one two" },
		hooksOf: { PreToolUse: [group(LOG, { matcher: "Edit|Write" }), group(`${LOG};`, { matcher: "MultiEdit" })] },
	});
	const edits = [
		{ oldText: "one", newText: "1" },
		{ oldText: "two", newText: "2", replaceAll: true },
	];
	await call(t, "edit", { path: "a.txt", edits });
	const file_path = join(t.cwd, "a.txt");
	expect(logged(t).map(({ tool_name, tool_input }) => ({ tool_name, tool_input }))).toEqual([
		{ tool_name: "Edit", tool_input: { file_path, old_string: "one", new_string: "1" } },
		{ tool_name: "Edit", tool_input: { file_path, old_string: "two", new_string: "2", replace_all: true } },
		{
			tool_name: "MultiEdit",
			tool_input: {
				file_path,
				edits: [
					{ old_string: "one", new_string: "1" },
					{ old_string: "two", new_string: "2", replace_all: true },
				],
			},
		},
	]);
});

const decision = (fields: object) => print({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });

test.each([
	["deny", decision({ permissionDecision: "deny", permissionDecisionReason: "not here" }), "not here"],
	["the decision block", print({ decision: "block", reason: "not now" }), "not now"],
	[
		"a decision that does not exist",
		decision({ permissionDecision: "yes" }),
		/answered with an unknown permissionDecision/,
	],
	["continue: false", print({ continue: false, stopReason: "enough" }), "enough"],
])("JSON with %s blocks the call", async (_, command, reason) => {
	const t = await start({ hooksOf: { PreToolUse: [group(command)] } });
	expect(await call(t, "bash", { command: "touch a" })).toMatch(reason);
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
});

test("the strictest of several commands wins, and all of them run", async () => {
	const t = await start({
		hooksOf: {
			PreToolUse: [
				group(decision({ permissionDecision: "allow" })),
				{
					matcher: "Bash",
					hooks: [
						{ type: "command", command: LOG },
						{ type: "command", command: refuse("no") },
					],
				},
				group(LOG),
			],
		},
	});
	expect(await call(t, "bash", { command: "touch a" })).toBe("no");
	expect(logged(t)).toHaveLength(1);
});

test("allow runs the call without deciding for other hooks", async () => {
	const t = await start({
		hooksOf: { PreToolUse: [group(decision({ permissionDecision: "allow" }))] },
		hookFiles: [example("permission-gate.ts")],
	});
	expect(await call(t, "bash", { command: "touch a" })).toContain("when hook permission-gate asked");
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
});

test("ask asks the user, and announces it as a notification", async () => {
	const t = await start({
		confirms: true,
		hooksOf: {
			PreToolUse: [group(decision({ permissionDecision: "ask", permissionDecisionReason: "Really?" }))],
			Notification: [group(LOG, { matcher: "permission_prompt" })],
		},
	});
	await call(t, "bash", { command: "touch a" });
	expect(t.asked).toEqual([expect.stringContaining("Really?")]);
	expect(existsSync(join(t.cwd, "a"))).toBe(true);
	await vi.waitFor(() =>
		expect(logged(t)).toMatchObject([{ hook_event_name: "Notification", message: "Permission is needed to use Bash" }]),
	);
});

test("updatedInput replaces the arguments, in the names of pi", async () => {
	const updatedInput = { command: "touch b", description: "x", timeout: 1500 };
	const t = await start({ hooksOf: { PreToolUse: [group(decision({ permissionDecision: "allow", updatedInput }))] } });
	await call(t, "bash", { command: "touch a" });
	expect(["a", "b"].map((name) => existsSync(join(t.cwd, name)))).toEqual([false, true]);
});

test.each([
	[
		"an argument that the tool does not have",
		decision({ updatedInput: { command: "touch b", sandbox: false } }),
		/does not have/,
	],
	["something else than arguments", decision({ updatedInput: "touch b" }), /does not have/],
])("updatedInput with %s blocks the call", async (_, command, reason) => {
	const t = await start({ hooksOf: { PreToolUse: [group(command)] } });
	expect(await call(t, "bash", { command: "touch a" })).toMatch(reason);
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
});

test("two commands that want different arguments block the call", async () => {
	const one = (command: string) => group(decision({ updatedInput: { command } }));
	const t = await start({ hooksOf: { PreToolUse: [one("touch b"), one("touch c")] } });
	expect(await call(t, "bash", { command: "touch a" })).toBe(
		"Hooks of Claude Code want different arguments for this call",
	);
});

test("continue: false ends the run after the calls, before the next request", async () => {
	const t = await start({
		hooksOf: { PostToolUse: [group(print({ continue: false, stopReason: "that is enough" }))] },
	});
	await call(t, "bash", { command: "touch a" });
	expect(existsSync(join(t.cwd, "a"))).toBe(true);
	expect(t.provider.requests).toHaveLength(1);
	t.provider.reply("fine");
	await t.session.prompt("again");
	expect(t.provider.requests).toHaveLength(2);
});

test("PostToolUse adds the reasons of exit code 2 and block, and additionalContext, to the result", async () => {
	const t = await start({
		hooksOf: {
			PreToolUse: [group(decision({ additionalContext: "from before" }))],
			PostToolUse: [
				group(refuse("lint failed")),
				group(print({ decision: "block", reason: "tests failed" })),
				group(print({ hookSpecificOutput: { additionalContext: "formatted" }, suppressOutput: true })),
				group("echo plain"),
			],
		},
	});
	const result = await call(t, "write", { path: "a", content: "x" });
	for (const text of ["from before", "lint failed", "tests failed", "formatted"]) expect(result).toContain(text);
	expect(result).not.toContain("plain");
});

test("a tool that fails is PostToolUseFailure", async () => {
	const t = await start({ hooksOf: { PostToolUse: [group(LOG)], PostToolUseFailure: [group(LOG)] } });
	await call(t, "read", { path: "missing" });
	expect(logged(t)).toMatchObject([
		{ hook_event_name: "PostToolUseFailure", tool_name: "Read", error: expect.stringContaining("missing") },
	]);
});

test("UserPromptSubmit refuses a prompt", async () => {
	const t = await start({
		hooksOf: { UserPromptSubmit: [group('grep -q secret && { echo "no secrets" >&2; exit 2; }; exit 0')] },
	});
	await expect(t.session.prompt("my secret")).rejects.toThrow("Hook claude-hooks refused the prompt: no secrets");
	t.provider.reply("fine");
	await t.session.prompt("hello");
	expect(t.sent(1)).toEqual(["user: hello"]);
});

test("UserPromptSubmit and SessionStart add what they print to the next prompt, once", async () => {
	const t = await start({
		hooksOf: {
			SessionStart: [
				group("echo 'branch main'", { matcher: "startup" }),
				group(print({ hookSpecificOutput: { additionalContext: "3 issues" } })),
				group("echo never", { matcher: "resume" }),
			],
			UserPromptSubmit: [group(`${LOG}; echo 'it is noon'`)],
		},
	});
	t.provider.reply("one", "two");
	await t.session.prompt("hello");
	await t.session.prompt("again");
	const [first = ""] = t.sent(1);
	for (const text of ["user: hello", "branch main", "3 issues", "it is noon"]) expect(first).toContain(text);
	expect(first).not.toContain("never");
	const second = t.sent(2).at(-1) ?? "";
	expect(second).toContain("it is noon");
	expect(second).not.toContain("branch main");
	expect(logged(t).map(({ prompt }) => prompt)).toEqual(["hello", "again"]);
});

test("SessionStart and SessionEnd name the reason of /new", async () => {
	const t = await start({ hooksOf: { SessionStart: [group(LOG)], SessionEnd: [group(LOG)] } });
	t.provider.reply("hi");
	await t.session.prompt("hello");
	await t.session.newSession();
	await t.session.dispose();
	const ids = logged(t).map(({ session_id }) => session_id);
	expect(logged(t)).toMatchObject([
		{ hook_event_name: "SessionStart", source: "startup" },
		{ hook_event_name: "SessionEnd", reason: "clear" },
		{ hook_event_name: "SessionStart", source: "clear" },
		{ hook_event_name: "SessionEnd", reason: "other" },
	]);
	expect(ids[0]).toBe(ids[1]);
	expect(ids[2]).not.toBe(ids[1]);
	expect(ids[3]).toBe(ids[2]);
});

test("Stop lets the agent continue with its reason, and knows it the second time", async () => {
	const once = `${LOG}; test -e done || { touch done; echo 'run the tests' >&2; exit 2; }`;
	const t = await start({ hooksOf: { Stop: [group(once)], UserPromptSubmit: [group("echo context")] } });
	t.provider.reply("finished", "the tests pass");
	await t.session.prompt("hello");
	await vi.waitFor(() => expect(logged(t)).toHaveLength(2));
	expect(logged(t)).toMatchObject([
		{ hook_event_name: "Stop", stop_hook_active: false, last_assistant_message: "finished" },
		{ hook_event_name: "Stop", stop_hook_active: true, last_assistant_message: "the tests pass" },
	]);
	expect(t.sent(2).at(-1)).toBe('user: <hook event="Stop">\nrun the tests\n</hook>');
});

test("a Stop hook that always continues is ended after eight times", async () => {
	const t = await start({ hooksOf: { Stop: [group(print({ decision: "block", reason: "more" }))] } });
	t.provider.on(() => "ok");
	await t.session.prompt("hello");
	await vi.waitFor(() => expect(t.shown).toEqual(["Hooks of Stop have let the agent continue 8 times: more"]), 20_000);
	expect(t.provider.requests).toHaveLength(9);
});

test("Stop does not run after a run that failed", async () => {
	const t = await start({ hooksOf: { Stop: [group(LOG)] }, userSettings: { retry: { enabled: false } } });
	t.provider.reply({ fault: { kind: "http", status: 400 } });
	await t.session.prompt("hello");
	expect(logged(t)).toEqual([]);
});

test("the end of a sub-agent is SubagentStop, and neither its start nor its prompt is an event", async () => {
	const agentDir = tempAgentDir();
	writeFiles(join(agentDir, "agents"), { "scout.md": SCOUT });
	const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStop", "Stop", "SessionEnd"];
	const t = await start({
		agentDir,
		hookFiles: [example("agents.ts")],
		hooksOf: Object.fromEntries(events.map((event) => [event, [group(LOG)]])),
	});
	answerBySystemPrompt(t.provider, {
		"You are a scout": ({ messages }) => (messages.length > 3 ? "found" : [toolCall("ls", {})]),
		"": ({ messages }) => (messages.length > 3 ? "done" : callAgent({ agent: "scout", prompt: "look" })),
	});
	await t.session.prompt("hello");
	expect(logged(t).map(({ hook_event_name, tool_name = "" }) => `${hook_event_name} ${tool_name}`.trim())).toEqual([
		"SessionStart",
		"UserPromptSubmit",
		"PreToolUse Task",
		"PreToolUse LS",
		"SubagentStop",
		"Stop",
	]);
	expect(logged(t)[2]).toMatchObject({ tool_input: { subagent_type: "scout", prompt: "look" } });
});

test("PreCompact names what triggers it, and refuses a compaction", async () => {
	const userSettings = { compaction: { keepRecentTokens: 1 } };
	const t = await start({
		userSettings,
		hooksOf: { PreCompact: [group(`${LOG}; test ! -e no || { echo later >&2; exit 2; }`)] },
	});
	t.provider.reply("one", "two", "summary");
	await t.session.prompt("hello");
	await t.session.prompt("again");
	await t.session.compact("names");
	expect(logged(t)).toMatchObject([{ trigger: "manual", custom_instructions: "names" }]);
	writeFileSync(join(t.cwd, "no"), "");
	t.provider.reply("three");
	await t.session.prompt("go on");
	await t.session.compact().catch(() => {});
	expect(t.shown).toContain("later");
	expect(t.session.entries.filter(({ type }) => type === "compaction")).toHaveLength(1);
});

test("a compaction that a run needs is automatic for PreCompact, and SessionStart follows it", async () => {
	const t = await start({
		modelOptions: { contextWindow: 8192 },
		userSettings: { compaction: { enabled: true, reserveTokens: 900, keepRecentTokens: 10 } },
		hooksOf: { PreCompact: [group(LOG)], SessionStart: [group(LOG, { matcher: "compact" })] },
	});
	const usage = { input: 6200, output: 2000 };
	t.provider.reply("one", { content: [{ type: "text", text: "two" }], usage }, "SUMMARY");
	await t.session.prompt(`hello ${"and more ".repeat(300)}`);
	await t.session.prompt("again");
	expect(logged(t)).toMatchObject([
		{ hook_event_name: "PreCompact", trigger: "auto", custom_instructions: "" },
		{ hook_event_name: "SessionStart", source: "compact" },
	]);
});

test("a command that fails stops nothing, and is named once with its first line", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group("cat >/dev/null; echo one >&2; echo two >&2; exit 1")] } });
	await call(t, "bash", { command: "touch a" });
	await call(t, "bash", { command: "touch b" });
	expect(existsSync(join(t.cwd, "b"))).toBe(true);
	expect(t.shown).toEqual([expect.stringMatching(/^The hook ".*" exited with code 1: one$/)]);
});

test("a guard that prints malformed JSON is named once, and its text refuses nothing", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group('echo \'{ "decision": "block"\'', { matcher: "Bash" })] } });
	await call(t, "bash", { command: "touch a" });
	await call(t, "bash", { command: "touch b" });
	expect(existsSync(join(t.cwd, "b"))).toBe(true);
	const warnings = t.shown.filter((line) => line.includes("printed text that is no valid JSON: it refuses nothing"));
	expect(warnings).toHaveLength(1);
	expect(warnings[0]).toContain("echo");
});

test("a command that takes too long is ended, and stops nothing", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group("sleep 60", {}, { timeout: 0.2 })] } });
	await call(t, "bash", { command: "touch a" });
	expect(existsSync(join(t.cwd, "a"))).toBe(true);
	expect(t.shown).toEqual(['The hook "sleep 60" timed out after 0.2 s']);
});

test("a command may take longer than hookTimeout if its own limit allows it", async () => {
	const t = await start({
		userSettings: { hookTimeout: 100 },
		hooksOf: { PostToolUse: [group("sleep 0.5; echo late >&2; exit 2")] },
	});
	expect(await call(t, "bash", { command: "touch a" })).toContain("late");
	expect(t.notices()).toEqual([]);
});

test("nobody waits for a command with async, and its answer is ignored", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group(`${LOG}; exit 2`, {}, { async: true })] } });
	await call(t, "bash", { command: "touch a" });
	expect(existsSync(join(t.cwd, "a"))).toBe(true);
	await vi.waitFor(() => expect(logged(t)).toHaveLength(1));
});

test("the end of a run ends its commands", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group("touch started; exec sleep 60")] } });
	t.provider.reply([toolCall("bash", { command: "touch a" })]);
	const run = t.session.prompt("go");
	await vi.waitFor(() => expect(existsSync(join(t.cwd, "started"))).toBe(true));
	await t.session.abort();
	await run;
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
	expect(t.shown).toEqual([]);
});

test("a message for the user is shown each time", async () => {
	const t = await start({ hooksOf: { PreToolUse: [group(print({ systemMessage: "mind the gap" }))] } });
	await call(t, "bash", { command: "true" });
	await call(t, "bash", { command: "true" });
	expect(t.shown).toEqual(["mind the gap", "mind the gap"]);
});

test("handlers and events without a counterpart are named once, and do not run", async () => {
	const t = await start({
		hooksOf: {
			PreToolUse: [
				{ hooks: [{ type: "prompt", prompt: "ok?" }, { type: "http", url: "http://x" }, { type: "prompt" }] },
			],
			PermissionRequest: [group(LOG)],
			Elicitation: [],
		},
	});
	await call(t, "bash", { command: "true" });
	expect(t.shown).toEqual([
		"Hooks of Claude Code that do not run here: 2 of the type prompt, 1 of the type http, the event PermissionRequest",
	]);
	expect(logged(t)).toEqual([]);
});

test.each([
	[
		"is not JSON",
		"{",
		/settings.json: it is not valid JSON in line 1, column 2 · correct it, or turn pi:claude-hooks off/,
	],
	[
		"has a matcher that is no regular expression",
		'{"hooks":{"PreToolUse":[{"matcher":"(","hooks":[]}]}}',
		/hooks\.PreToolUse\[0\]\.matcher is not/,
	],
	["has an event without a list", '{"hooks":{"Stop":{}}}', /hooks\.Stop must be a list/],
	[
		"has a command that is no text",
		'{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}',
		/hooks\[0\]\.command must be text/,
	],
	["is not an object", "[]", /it is not a JSON object/],
])("no tool call runs with a file that %s", async (_, text, problem) => {
	const agentDir = tempAgentDir();
	writeFiles(join(agentDir, "claude-hooks"), { "settings.json": text });
	const t = await start({ agentDir });
	expect(await call(t, "bash", { command: "touch a" })).toMatch(problem);
	expect(existsSync(join(t.cwd, "a"))).toBe(false);
	expect(t.shown).toEqual([expect.stringMatching(problem)]);
});

test("no tool call runs with a file that other users can change", async () => {
	const agentDir = tempAgentDir();
	writeFiles(join(agentDir, "claude-hooks"), { "settings.json": { hooks: {} } });
	chmodSync(join(agentDir, "claude-hooks", "settings.json"), 0o666);
	const t = await start({ agentDir });
	expect(await call(t, "bash", { command: "touch a" })).toMatch(/other users can write to/);
});

test("disableAllHooks turns all of a file off", async () => {
	const agentDir = tempAgentDir();
	const hooks = { PreToolUse: [group(refuse("no"))] };
	writeFiles(join(agentDir, "claude-hooks"), { "settings.json": { disableAllHooks: true, hooks } });
	const t = await start({ agentDir });
	await call(t, "bash", { command: "touch a" });
	expect(existsSync(join(t.cwd, "a"))).toBe(true);
});

test("a project's hooks run once it is trusted, and no longer when a script of theirs has changed", async () => {
	const files = {
		".pi/claude-hooks/settings.json": {
			hooks: { PreToolUse: [group('"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh', { matcher: "Bash" })] },
		},
		".claude/hooks/guard.sh": "#!/bin/sh\necho guarded >&2\nexit 2\n",
	};
	const untrusted = await start({ files });
	await call(untrusted, "bash", { command: "touch a" });
	expect(existsSync(join(untrusted.cwd, "a"))).toBe(true);

	const t = await start({ files, trust: true });
	chmodSync(join(t.cwd, ".claude/hooks/guard.sh"), 0o755);
	expect(await call(t, "bash", { command: "touch a" })).toBe("guarded");
	writeFileSync(join(t.cwd, ".claude/hooks/guard.sh"), "#!/bin/sh\ntouch owned\n");
	expect(await call(t, "bash", { command: "touch a" })).toMatch(
		/guard\.sh, which a hook .* runs, is new or has changed/,
	);
	expect(["a", "owned"].map((name) => existsSync(join(t.cwd, name)))).toEqual([false, false]);
});

test("a changed file stops only the commands that run it", async () => {
	const files = {
		".pi/claude-hooks/settings.json": {
			hooks: {
				PreToolUse: [group("sh guard.sh")],
				PostToolUse: [group("cat > /dev/null; npm run lint")],
			},
		},
		"guard.sh": LOG,
		"package.json": { scripts: { lint: "touch linted" } },
	};
	const t = await start({ files, trust: true });
	writeFiles(t.cwd, { "package.json": { scripts: { lint: "touch owned" } } });
	await call(t, "bash", { command: "touch a" });
	await call(t, "bash", { command: "touch b" });
	expect(logged(t)).toHaveLength(2);
	expect(["b", "linted", "owned"].map((name) => existsSync(join(t.cwd, name)))).toEqual([true, false, false]);
	expect(t.shown).toEqual([expect.stringMatching(/package\.json, which a hook .* runs, is new or has changed/)]);
});

test("a matcher of names matches exactly these, and one with other characters as a regular expression", () => {
	const word = fc.stringMatching(/^[A-Za-z0-9_]{1,20}$/);
	fc.assert(
		fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 5 }), word, (names, other) => {
			const matches = createMatcher(names.join("|"));
			for (const name of names) expect(matches?.(name)).toBe(true);
			expect(matches?.(other)).toBe(names.includes(other));
		}),
	);
	expect(createMatcher("mcp__.*__write.*")?.("mcp__files__write_all")).toBe(true);
	expect(createMatcher("^Notebook")?.("Edit")).toBe(false);
	expect(createMatcher("Edit | Write")?.("Write")).toBe(true);
	for (const all of ["", "*", " "]) expect(createMatcher(all)?.("anything")).toBe(true);
	expect(createMatcher("(a+)+$")?.("a".repeat(200))).toBe(true);
	expect(createMatcher("(")).toBeNull();
});

const ctx = { toolHost: { name: "", cwd: "/work" }, tools: { all: [] } } as unknown as HookEventContext;

test("a call in the words of Claude Code is the same call for pi", () => {
	const text = fc.string({ maxLength: 20 });
	const path = fc.stringMatching(/^\/[a-z]{1,9}$/);
	const edit = fc.record(
		{ oldText: text, newText: text, replaceAll: fc.boolean() },
		{ requiredKeys: ["oldText", "newText"] },
	);
	const count = fc.nat();
	const inputs: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
		bash: fc.record(
			{ command: text, timeout: fc.integer({ min: 1, max: 600 }), background: fc.boolean() },
			{ requiredKeys: ["command"] },
		),
		read: fc.record({ path, offset: count, limit: count }, { requiredKeys: ["path"] }),
		write: fc.record({ path, content: text }),
		edit: fc.oneof(
			fc.record(
				{ path, oldText: text, newText: text, replaceAll: fc.boolean() },
				{ requiredKeys: ["path", "oldText", "newText"] },
			),
			fc.record({ path, edits: fc.array(edit, { minLength: 1, maxLength: 3 }) }),
		),
		grep: fc.record(
			{
				...{
					pattern: text,
					path,
					glob: text,
					ignoreCase: fc.boolean(),
					literal: fc.boolean(),
					context: count,
					before: count,
				},
				...{ after: count, output: fc.constantFrom("content", "files", "count"), limit: count },
			},
			{ requiredKeys: ["pattern"] },
		),
		find: fc.record({ pattern: text, path, limit: count }, { requiredKeys: ["pattern"] }),
		ls: fc.record({ path, limit: count }, { requiredKeys: [] }),
	};
	for (const [toolName, input] of Object.entries(inputs)) {
		fc.assert(
			fc.property(input, (own) => {
				// The last name is the one that has all of an edit.
				const {
					name,
					inputs: [there = {}],
				} = claudeCalls({ toolName, input: own }, ctx).at(-1) ?? expect.fail();
				const back = ownInput({ toolName, input: own }, there);
				const isSingle = toolName === "edit" && own.edits === undefined;
				const { path: file, ...one } = own;
				expect(back).toEqual(isSingle ? { path: file, edits: [one] } : own);
				// What models that learned the tools of Claude Code call means the same, but for the unit of a time limit.
				const { timeout: _, ...args } = there as { timeout?: unknown };
				const meant = meantCall({ type: "toolCall", id: "", name, arguments: args as never }, BUILTIN_TOOLS);
				const { timeout: __, ...expected } = back ?? {};
				expect(meant).toMatchObject({ name: toolName, arguments: expected });
			}),
		);
	}
});
