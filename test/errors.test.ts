import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseArgs } from "../src/cli/args.js";
import { textOrFile } from "../src/cli/prompt-input.js";
import { paths } from "../src/config/paths.js";
import { SettingsStore } from "../src/config/settings-store.js";
import { describeHookError, HookError, hookFailure, PiError, type PiErrorCode } from "../src/errors.js";
import { SessionLog } from "../src/log/session-log.js";
import { runPrompts } from "../src/modes/run-prompts.js";
import { readProxyRules } from "../src/network/proxy-rules.js";
import { PackageManager } from "../src/packages/package-manager.js";
import { createAgentSession } from "../src/sdk/create-session.js";
import { missingPackage } from "../src/services/models/model-client.js";
import { createHookTest } from "../src/testing/index.js";
import { createShellHost } from "../src/tools/machine/shell-machine.js";
import { run } from "./cli/subcommands/run.js";
import { httpError, toolCall } from "./helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "./helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "./helpers/temp.js";
import { localShell } from "./helpers/tool-hosts.js";

/** The error that `work` throws or rejects with. */
const thrownBy = (work: () => unknown): Promise<unknown> =>
	Promise.resolve()
		.then(work)
		.then(
			() => "nothing was thrown",
			(error: unknown) => error,
		);

/** The error of a session that starts and runs a line. */
const refusal = (options: TestSessionOptions, line?: string) =>
	thrownBy(async () => {
		const { session } = await startSession(options);
		if (line !== undefined) await session.prompt(line);
	});

/** The error that a hook's command throws: the cause of the `command_failed` that its caller receives. */
async function thrownInCommand(handler: string): Promise<unknown> {
	const source = `export default (pi) => { pi.command("try", { handler: async (ctx) => { ${handler} } }); };`;
	const error = await refusal({ hooks: { "a.ts": source } }, "/try");
	return error instanceof Error ? error.cause : error;
}

/** The error of the first `hook_error` event of a run with this handler. */
async function reported(event: string, handler: string): Promise<unknown> {
	const { session, provider, events } = await startSession({
		hooks: { "a.ts": `export default (pi) => pi.on("${event}", ${handler});` },
		userSettings: { hookTimeout: 20 },
	});
	provider.reply("ok");
	await session.prompt("go");
	return events.find((one) => one.type === "hook_error")?.cause;
}

function sessionFile(content?: string): string {
	const path = join(tempDir(), "2026-01-02T03-04-05-000Z_s1.jsonl");
	const header = { type: "session", version: 1, id: "s1", timestamp: "2026-01-02T03:04:05.000Z", cwd: "/" };
	writeFileSync(path, content ?? `${JSON.stringify(header)}\n`);
	return path;
}

function installedFrom(source: string) {
	const agentDir = tempDir();
	const env = { PI_CODING_AGENT_DIR: agentDir };
	const place = paths(env, tempDir(), tempDir());
	return new PackageManager({ paths: place, env, settings: new SettingsStore(place) }).install(source, "user");
}

/** Provokes each code through the APIs of users, hook authors and SDK programs. */
const PROVOKED: Record<PiErrorCode, () => Promise<unknown>> = {
	bad_arguments: () => thrownBy(() => parseArgs(["--mode", "nope"])),
	not_a_terminal: () => refusal({}, "/theme"),
	package_missing: async () => missingPackage(new Error("Cannot find package '@aws-sdk/x' imported from /y.js")),
	host_unreachable: () => thrownBy(() => createShellHost(localShell(), { cwd: "/no/such/directory" })),
	proxy_invalid: () => thrownBy(() => readProxyRules({ HTTPS_PROXY: "not a proxy" })),
	tool_unknown: () => refusal({ tools: ["nope"] }),
	command_failed: () =>
		refusal({ hooks: { "a.ts": `export default (pi) => pi.command("try", { handler() { throw 1; } });` } }, "/try"),
	export_failed: () => refusal({}, `/export ${tempDir()}`),
	config_invalid() {
		const cwd = tempDir();
		const files = Array.from({ length: 1001 }, (_, n) => [`.pi/hooks/h${n}.ts`, "export default () => {};"]);
		writeFiles(cwd, Object.fromEntries(files));
		return thrownBy(() => run({ name: "hooks", action: "trust" }, { cwd }));
	},
	config_write_failed() {
		const agentDir = tempAgentDir();
		mkdirSync(join(agentDir, "settings.json"));
		return thrownBy(() => new SettingsStore({ agentDir, cwd: agentDir }).set("theme", "dark"));
	},
	file_unreadable: () => thrownBy(() => textOrFile("/dev/null", { cwd: "/", home: "/" })),
	log_not_found: () => refusal({ session: { kind: "open", target: "/nowhere/x.jsonl" } }),
	log_not_a_session: () => refusal({ session: { kind: "open", target: sessionFile("hello\n") } }),
	log_locked() {
		const target = sessionFile();
		const log = SessionLog.open(target);
		onTestFinished(() => log.close());
		return refusal({ session: { kind: "open", target } });
	},
	log_read_only: () => refusal({ session: { kind: "read", target: sessionFile() } }, "hello"),
	log_write_failed: () =>
		thrownBy(() => SessionLog.open(sessionFile(), { readOnly: true }).branchTo("all", { dir: sessionFile() })),
	entry_refused: () => thrownInCommand(`await ctx.saveEntry({ type: "message" });`),
	async limit_reached() {
		const { session, provider } = await startSession();
		provider.reply([toolCall("ls", {})]);
		const failures: unknown[] = [];
		const reporter = { onStatus: async () => {}, onReply: async () => {}, onStructured: async () => {} };
		const prompts = { first: { text: "go", images: [] }, rest: [], limits: { turns: 1 } };
		await runPrompts(session, prompts, { ...reporter, onFailure: (failure) => failures.push(failure) });
		return failures[0];
	},
	async session_busy() {
		const { session, provider } = await startSession();
		let error: unknown;
		provider.reply(async () => {
			error = await thrownBy(() => session.compact());
			return "ok";
		});
		await session.prompt("go");
		return error;
	},
	model_missing: () =>
		thrownBy(async () => {
			const env = { PI_CODING_AGENT_DIR: tempAgentDir() };
			const memory = { kind: "memory" } as const;
			const session = await createAgentSession({
				cwd: tempDir(),
				home: tempDir(),
				env,
				session: memory,
				localServers: { ports: {} },
			});
			onTestFinished(() => session.dispose());
			await session.start();
			await session.prompt("hi");
		}),
	model_unknown: () => refusal({ model: "nope" }),
	key_missing: () => refusal({ model: "anthropic/claude-sonnet-4-5" }, "hi"),
	async request_failed() {
		const { session, provider } = await startSession();
		provider.reply(httpError(401));
		const failures: unknown[] = [];
		const nothing = async () => {};
		const onFailure = (error: unknown) => void failures.push(error);
		const reporter = { onStatus: nothing, onReply: nothing, onStructured: nothing, onFailure };
		expect(await runPrompts(session, { rest: ["hi"] }, reporter)).toBe(1);
		return failures[0];
	},
	async compaction_failed() {
		const { session } = await startSession();
		return thrownBy(() => session.compact());
	},
	prompt_refused: () =>
		refusal({ hooks: { "a.ts": `export default (pi) => pi.on("prompt", () => ({ stop: "no" }));` } }, "go"),
	async prompt_too_large() {
		const { session } = await startSession({ modelOptions: { contextWindow: 8192 } });
		return thrownBy(() => session.prompt("too much ".repeat(5000)));
	},
	package_failed: () => thrownBy(() => installedFrom("npm:@mariozechner/pi-ai")),
	async package_untrusted() {
		const dir = tempDir();
		writeFiles(dir, { "hooks/a.ts": "export default function () {}" });
		return thrownBy(() => startSession({ userSettings: { packages: [dir] } }));
	},
	package_unloaded: () => thrownBy(() => startSession({ userSettings: { packages: ["npm:pi-missing"] } })),
	hook_load_failed() {
		const dir = tempDir();
		writeFiles(dir, { "a.ts": "export default 7;" });
		return thrownBy(() => createHookTest({ hooks: [join(dir, "a.ts")] }));
	},
	hook_failed: () => reported("turn_end", `() => { throw new Error("boom"); }`),
	hook_timeout: () => reported("turn_end", "() => new Promise(() => {})"),
	async hook_stale() {
		const { session } = await startSession({
			hooks: {
				"a.ts": `let held; export default (pi) => {
					pi.on("session", (event, ctx) => { held ??= ctx; });
					pi.command("try", { handler: () => { held.cwd; } });
				};`,
			},
		});
		await session.prompt("/new");
		const error = await thrownBy(() => session.prompt("/try"));
		return error instanceof Error ? error.cause : error;
	},
	context_invalid: () => reported("context", "() => ({ messages: [] })"),
	async context_locked() {
		const error = await reported("context", `(event, ctx) => ctx.saveEntry({ type: "x" })`);
		return error instanceof Error ? error.cause : error;
	},
};

const codes = () => Object.keys(PROVOKED);

test.each(codes())("%s is thrown as docs/errors.md describes", async (code) => {
	const error = await PROVOKED[code as PiErrorCode]();
	expect(error).toBeInstanceOf(PiError);
	expect(error).toMatchObject({ code });
});

test("a HookError contains hook, event and cause, and its event has the documented JSON form", async () => {
	const { session, provider, events } = await startSession({
		hooks: { "a.ts": `export default (pi) => pi.on("turn_end", () => { throw new TypeError("boom"); });` },
	});
	provider.reply("ok");
	await session.prompt("go");
	const [event] = events.filter(({ type }) => type === "hook_error");
	if (event?.type !== "hook_error") throw new Error("no hook_error event");
	expect(event.cause).toBeInstanceOf(HookError);
	expect(event.cause).toMatchObject({
		code: "hook_failed",
		hookPath: event.hookPath,
		event: "turn_end",
		message: `Hook ${event.hookPath} failed on turn_end`,
		reason: "boom",
		cause: { message: "boom" },
	});
	const line: unknown = JSON.parse(JSON.stringify(event));
	const { hookPath } = event;
	const place = { file: hookPath, line: 1, column: 56 };
	expect(line).toEqual({ type: "hook_error", hookPath, event: "turn_end", error: "boom", ...place });
});

test("a notice names the hook, the event and the reason, and says when a hook timed out", () => {
	const notice = (code: PiErrorCode, reason: string) =>
		describeHookError(hookFailure(new HookError(code, "/x/gate.ts", "session", reason)), "gate.ts");
	expect(notice("hook_timeout", "timed out after 700 ms")).toBe("Hook gate.ts timed out after 700 ms (event: session)");
	expect(notice("hook_failed", "boom")).toBe("Hook gate.ts failed on session: boom");
});

const UNUSUAL = [
	["undefined", "undefined", "undefined was thrown"],
	["a revoked proxy", "revoked()", "something unreadable was thrown"],
	["an object without a prototype", "Object.assign(Object.create(null), { a: 1 })", '{"a":1}'],
] as const;
const REVOKED = "const revoked = () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; };";

test.each([
	["(0 , __vite_ssr_import_0__.parse) is not a function", "parse is not a function"],
	["(0, _lib.tools.parse) is not a function", "tools.parse is not a function"],
	["__vite_ssr_import_12__.Parser is not a constructor", "Parser is not a constructor"],
	["(0, 1).parse is not a function", "(0, 1).parse is not a function"],
])("an import has the name of the source: %s", (message, expected) => {
	expect(new HookError("hook_failed", "/x/gate.ts", "session", new TypeError(message)).reason).toBe(expected);
});

test.each([
	['saveEntry of /x/gate.ts:5:50: "f" is a function', 'saveEntry: "f" is a function'],
	["saveEntry of /x/gate.ts at lib/rules.ts:3:9: the type is missing", "saveEntry: the type is missing"],
	[
		"ctx.ui of tool_call in /x/gate.ts was used after the hook was unloaded",
		"ctx.ui of tool_call was used after the hook was unloaded",
	],
	["cannot read the size of /x/other.ts", "cannot read the size of /x/other.ts"],
])("a line names a hook and its place once: %s", (message, expected) => {
	const error = new HookError("hook_failed", "/x/gate.ts", "session", new PiError("entry_refused", message));
	expect(describeHookError(hookFailure(error), "gate.ts")).toBe(`Hook gate.ts failed on session: ${expected}`);
});

test.each(UNUSUAL)(
	"a hook that throws %s is reported when loading, in a handler and in a command",
	async (_, thrown, reason) => {
		const hook = (code: string) => `${REVOKED} export default (pi) => { ${code} };`;
		const { session, provider, events } = await startSession({
			hooks: {
				"handler.ts": hook(`pi.on("turn_end", () => { throw ${thrown}; });`),
				"command.ts": hook(`pi.command("try", { handler() { throw ${thrown}; } });`),
				"load.ts": hook(`throw ${thrown};`),
			},
		});
		expect(session.loaded.warnings).toEqual([expect.stringMatching(/load\.ts did not load: /)]);
		expect(session.loaded.warnings[0]).toContain(`did not load: ${reason}`);
		provider.reply("ok");
		await session.prompt("go");
		await expect(session.prompt("/try")).rejects.toMatchObject({
			code: "command_failed",
			message: expect.stringContaining(`failed on /try: ${reason}`),
		});
		const errors = events.flatMap((event) =>
			event.type === "hook_error" ? [[event.event, event.error, event.cause?.code]] : [],
		);
		expect(errors).toEqual([
			["turn_end", reason, "hook_failed"],
			["/try", reason, "hook_failed"],
		]);
	},
);

test("docs/errors.md lists every error code once, with its meaning and what to do", () => {
	const rows = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8")
		.split("\n")
		.filter((line) => line.startsWith("| `"))
		.map((line) =>
			line
				.slice(1, -1)
				.split("|")
				.map((cell) => cell.trim()),
		);
	expect(rows.map(([code = ""]) => code.slice(1, -1)).sort()).toEqual(codes().sort());
	for (const row of rows)
		expect(row).toEqual([expect.anything(), expect.stringMatching(/\w/), expect.stringMatching(/\w/)]);
});
