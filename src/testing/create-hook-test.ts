import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { processEnvironment } from "../config/paths.js";
import type { SettingsFile } from "../config/settings-schema.js";
import { fullText } from "../context/ledger.js";
import { errorText, type HookFailureFacts, locate, PiError } from "../errors.js";
import type { ReadFlags } from "../hooks/flags.js";
import { hookFileName } from "../hooks/hook-name.js";
import { PLAIN_THEME } from "../hooks/plain-theme.js";
import { NO_UI } from "../hooks/session-ui.js";
import { loadTerminalLibrary } from "../hooks/shared-modules.js";
import type { EntryComponent } from "../hooks/types.js";
import { isMessageEntry, messageText, type SessionEntry } from "../log/entry.js";
import { SessionLog } from "../log/session-log.js";
import type { AgentSession } from "../sdk/agent-session.js";
import { createAgentSession } from "../sdk/create-session.js";
import { type AskedDialog, createScriptedUI, type DialogAnswer } from "./scripted-dialogs.js";
import {
	createScriptedModel,
	type Reply,
	type ScriptedFacts,
	type ScriptedModel,
	type SeenMessage,
	type SeenRequest,
} from "./scripted-model.js";
import type { ShownScreen } from "./scripted-screen.js";

export interface HookTestOptions {
	/** Hook files, in load order. Relative paths are resolved against the working directory of the test process. */
	hooks: readonly (string | URL)[];
	/** Extensions: files, or directories with a package.json or an index file. They load after the hooks. */
	extensions?: readonly (string | URL)[];
	/** Replies of the model, one for each request, including requests of hooks and compactions. */
	replies?: readonly Reply[];
	/** Facts of the scripted model, such as a small context window, or prices. */
	model?: ScriptedFacts;
	/** Entries that the session starts with, without a header. */
	entries?: readonly SessionEntry[];
	/** A session file to start from; it is copied. Not together with `entries`. */
	sessionFile?: string | URL;
	/** Answers of the user, one for each dialog. */
	dialogs?: readonly DialogAnswer[];
	/** Files to write into the working directory: text by relative path. */
	files?: Readonly<Record<string, string>>;
	/** The working directory. Absent: a new one, which `dispose` removes. */
	cwd?: string;
	/** Content of the user's settings.json, such as `hookGrants`. Failed requests are retried only if `retry` enables it. */
	settings?: SettingsFile;
	/** Flags on the command line, by name without the dashes. Each must be one that a hook declares. */
	flags?: Readonly<Record<string, boolean | string>>;
	/** False: every dialog is canceled at once, as in print mode. */
	hasUI?: boolean;
}

/** The result of a prompt or a command. */
export interface RunResult {
	/** The status that a command returned; null for a prompt, or if the command returned none. */
	status: string | null;
	/** Text of the last reply in the session; null if the model was not called. */
	reply: string | null;
}

/** A session in memory with hooks, a scripted model and a scripted user. */
export interface HookTest {
	readonly session: AgentSession;
	readonly cwd: string;
	/** The requests sent to the model so far. */
	readonly requests: readonly SeenRequest[];
	/** All entries of the session; index 0 is the header. */
	readonly entries: readonly SessionEntry[];
	/** Messages of the last computed context with their origin: an entry index or null, a hook's path or null. */
	readonly context: readonly (SeenMessage & { entryIndex: number | null; hook: string | null })[];
	/** Lines shown to the user, by `ui.notify`, commands and the session. */
	readonly notices: readonly string[];
	/** Failures of handlers, rejected answers and contexts that differ for the same entries, as `event: reason (gate.ts:12:5)`. */
	readonly errors: readonly string[];
	/** The dialogs and components that hooks opened. */
	readonly asked: readonly AskedDialog[];
	/** What hooks show on the screen now, as text; nothing with `hasUI: false`. */
	readonly screen: ShownScreen;
	/**
	 * Submits a line and waits until the session is idle again, including runs that hooks start meanwhile.
	 * @throws PiError `command_failed`, `bad_arguments` of commands; `bad_arguments` if a reply or answer is missing from
	 * the script, or a reply function throws; `hook_failed` if a promise of a hook rejected and nothing handled it
	 */
	run(text: string): Promise<RunResult>;
	/**
	 * Draws an entry with the renderer of its hook, or a text or component, as lines of at most `width` columns.
	 * @param drawn an entry, its index, a text or a component
	 * @param width default 80
	 * @throws PiError `bad_arguments` for an entry without a renderer; TypeError for malformed output; the renderer's error
	 */
	draw(drawn: number | SessionEntry | string | EntryComponent, width?: number): Promise<string[]>;
	/** Adds replies to the end of the script. @throws PiError `bad_arguments` for a malformed one */
	reply(...replies: readonly Reply[]): void;
	/** Ends the session, with a `shutdown` event, and deletes its temporary files. Safe to call more than once. */
	dispose(): Promise<void>;
}

/**
 * Starts a session with hooks. pi loads them as usual; they have handled `start` when the promise resolves. The built-in
 * tools work on the working directory. Nothing uses the network unless a hook does.
 * @throws PiError `hook_load_failed` if a hook does not load; `bad_arguments` if `start` opens a dialog without an answer
 * in the script, and for a flag that no hook declares or that has a value of the wrong type
 */
export async function createHookTest(options: HookTestOptions): Promise<HookTest> {
	const problems: string[] = [];
	const home = realpathSync(mkdtempSync(join(tmpdir(), "pi-hook-test-")));
	const scripted = await createScriptedModel((problem) => problems.push(problem), options.model);
	const cleanUp = () => {
		scripted.remove();
		rmSync(home, { recursive: true, force: true, maxRetries: 3 });
	};
	try {
		scripted.add(options.replies ?? []);
		return await start(options, home, scripted, problems, cleanUp);
	} catch (error) {
		cleanUp();
		throw error;
	}
}

async function start(
	options: HookTestOptions,
	home: string,
	scripted: ScriptedModel,
	problems: string[],
	cleanUp: () => void,
): Promise<HookTest> {
	const agentDir = join(home, "agent");
	const cwd = resolve(options.cwd ?? join(home, "project"));
	writeFiles(cwd, options.files ?? {});
	writeFiles(agentDir, { "settings.json": JSON.stringify({ retry: { enabled: false }, ...options.settings }) });
	const hooks = new Set(options.hooks.map((hook) => pathOf(hook)));
	const extensions = new Set(options.extensions?.map((extension) => pathOf(extension)));
	const started = options.entries ?? (options.sessionFile === undefined ? null : pathOf(options.sessionFile));
	if (options.entries && options.sessionFile !== undefined)
		throw new PiError("bad_arguments", "use either entries or sessionFile");
	const log = started === null ? null : await createStartLog(started, home, cwd);
	const session = await createAgentSession({
		cwd,
		home,
		env: { PI_CODING_AGENT_DIR: agentDir, PATH: processEnvironment().PATH },
		session: log === null ? { kind: "memory" } : { kind: "open", target: log },
		model: scripted.model,
		apiKey: "none",
		extraModels: [scripted.model],
		hooks: [...hooks],
		extensions: [...extensions],
		readFlags: (declared) => readFlags(options.flags ?? {}, declared),
		discoverHooks: false,
		discoverSkills: false,
		contextFiles: false,
		localServers: { ports: {} },
	});
	const notices: string[] = [];
	const errors: string[] = [];
	const asked: AskedDialog[] = [];
	session.subscribe((event) => {
		if (event.type === "notice") notices.push(event.message);
		else if (event.type === "hook_error") errors.push(describeFailure(event));
	});
	const watcher = {
		onAsked: (dialog: AskedDialog) => void asked.push(dialog),
		onNotify: (message: string) => void notices.push(message),
		onProblem: (problem: string) => void problems.push(problem),
	};
	const hasUI = options.hasUI !== false;
	// Loaded here: other users of the package need no screen.
	const { createTextScreen } = await import("../tui/text-screen.js");
	const scriptedUI = createScriptedUI(options.dialogs ?? [], watcher, createTextScreen(80, 24));
	session.attachUI(hasUI ? scriptedUI : { ...NO_UI, notify: watcher.onNotify }, null, hasUI);
	const strays = watchStrays(session);
	let disposed: Promise<void> | null = null;
	const dispose = () => {
		disposed ??= session
			.dispose()
			.then(strays.refuse)
			.finally(() => {
				strays.release();
				cleanUp();
			});
		return disposed;
	};
	try {
		await session.start();
		const { hooks: loaded, warnings } = session.loaded;
		if (loaded.length < hooks.size + extensions.size)
			throw new PiError("hook_load_failed", warnings.join("; ") || "A hook did not load");
		refuse(problems);
	} catch (error) {
		await dispose().catch(() => {}); // the first error says more
		throw error;
	}
	return {
		session,
		cwd,
		requests: scripted.requests,
		notices,
		errors,
		asked,
		get screen() {
			return scriptedUI.hookScreen.shown;
		},
		get entries() {
			return session.entries;
		},
		get context() {
			return session.context.messages.map(({ message, entryIndex, origin }) => ({
				role: message.role === "bashExecution" ? ("user" as const) : message.role,
				text: fullText(message),
				entryIndex,
				hook: origin.kind === "hook" ? origin.hook : null,
			}));
		},
		run: async (text) => {
			const result = await run(session, text, problems);
			await strays.refuse();
			await reportUnstable(session, errors);
			return result;
		},
		draw: (drawn, width = 80) => draw(session, drawn, width),
		reply: (...replies) => scripted.add(replies),
		dispose,
	};
}

/** Reads the flags of a test as those of a command line. */
function readFlags(given: NonNullable<HookTestOptions["flags"]>, declared: Parameters<ReadFlags>[0]) {
	const problems = Object.entries(given).flatMap(([name, value]) => {
		const flag = declared.find((known) => known.name === name);
		if (!flag) return [`No hook declares the flag --${name}`];
		return typeof value === flag.type ? [] : [`The value of the flag --${name} must be a ${flag.type}`];
	});
	return { values: given, problem: problems[0] === undefined ? null : new PiError("bad_arguments", problems[0]) };
}

async function run(session: AgentSession, text: string, problems: string[]): Promise<RunResult> {
	const before = session.entries.length;
	problems.length = 0;
	const result = await session.prompt(text);
	await idle(session);
	refuse(problems);
	const reply = session.entries
		.slice(before)
		.findLast((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	return {
		status: result.kind === "command" ? result.status : null,
		reply: isMessageEntry(reply) ? messageText(reply.message) : null,
	};
}

/** `event: reason`, and the place with the hook's file name: `tool_call: no luck (gate.ts:12:5)`. */
function describeFailure(failure: HookFailureFacts): string {
	const { event, error, hookPath, file } = failure;
	const { subject, at } = locate(failure, hookFileName(hookPath));
	return `${event}: ${error}${file === undefined ? "" : ` (${at === "" ? subject : at.slice(" at ".length)})`}`;
}

/** @throws PiError `bad_arguments` with the first problem of the script */
function refuse([problem]: readonly string[]): void {
	if (problem !== undefined) throw new PiError("bad_arguments", problem);
}

/** Collects errors that the promises and timers of hooks throw outside of handlers. */
function watchStrays(session: AgentSession): { refuse(): Promise<void>; release(): void } {
	const strays: unknown[] = [];
	const onError = (error: unknown) => {
		if (session.blameHook(error)) strays.push(error);
	};
	process.on("unhandledRejection", onError);
	process.on("uncaughtException", onError);
	return {
		async refuse() {
			// Node reports an unhandled rejection after the microtasks of the current turn.
			await new Promise((resolve) => setImmediate(resolve));
			const [cause] = strays.splice(0);
			if (cause === undefined) return;
			throw new PiError("hook_failed", `A promise or timer of a hook failed: ${errorText(cause)}`, { cause });
		},
		release() {
			process.off("unhandledRejection", onError);
			process.off("uncaughtException", onError);
		},
	};
}

/** Computes the context twice, which shows whether a hook answers differently to the same entries. */
async function reportUnstable(session: AgentSession, errors: string[]): Promise<void> {
	if (!session.inspector.hookStatuses().some(({ events }) => events.includes("context"))) return;
	const { unstable } = await session.inspector.inspectContext();
	for (const path of unstable) {
		const error = `context: returns different messages for the same entries (${hookFileName(path)})`;
		if (!errors.includes(error)) errors.push(error);
	}
}

async function draw(session: AgentSession, drawn: Parameters<HookTest["draw"]>[0], width: number): Promise<string[]> {
	const entry = typeof drawn === "number" ? session.entries[drawn] : drawn;
	if (typeof entry === "string" || (typeof entry === "object" && "render" in entry)) return drawnLines(entry, width);
	const render = entry && session.entryRenderer(entry.type, entry);
	if (render) return drawnLines(render(entry, PLAIN_THEME, { expanded: true }), width);
	throw new PiError(
		"bad_arguments",
		entry ? `No hook draws entries of type ${entry.type}` : `There is no entry ${drawn}`,
	);
}

function pathOf(file: string | URL): string {
	return resolve(file instanceof URL ? fileURLToPath(file) : file);
}

/** Resolves when the session is idle, including runs that hooks started. */
async function idle(session: AgentSession): Promise<void> {
	while (session.activity.state !== "idle") {
		await new Promise<void>((resolve) => {
			const stop = session.subscribe(({ type }) => {
				if (type !== "activity_changed") return;
				stop();
				resolve();
			});
		});
	}
}

function writeFiles(dir: string, files: Readonly<Record<string, string>>): void {
	mkdirSync(dir, { recursive: true });
	for (const [path, content] of Object.entries(files)) {
		const target = resolve(dir, path);
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, content);
	}
}

/**
 * The lines of a text or component of a hook at a width: text is wrapped.
 * @throws TypeError if it is neither, or a component returns something else than lines of at most `width` columns
 */
export async function drawnLines(drawn: unknown, width: number): Promise<string[]> {
	const { visibleWidth, wrapTextWithAnsi } = await loadTerminalLibrary();
	if (typeof drawn === "string") return drawn.split("\n").flatMap((line) => wrapTextWithAnsi(line, width));
	if (typeof drawn !== "object" || drawn === null || !("render" in drawn) || typeof drawn.render !== "function")
		throw new TypeError("expected a text or a component with render(width)");
	const lines: unknown = drawn.render(width);
	if (!Array.isArray(lines)) throw new TypeError("render() did not return an array of lines");
	return lines.map((line: unknown, row) => {
		if (typeof line !== "string") throw new TypeError(`render() returned no text for line ${row}`);
		const columns = visibleWidth(line);
		if (columns > width) throw new TypeError(`render() returned line ${row} with ${columns} columns at width ${width}`);
		return line;
	});
}

/**
 * Prepares the log that a test starts from, in a private directory.
 * @param start entries without a header, or the path of a session file, which is copied
 * @returns the path of the log
 * @throws PiError `bad_arguments`, `file_unreadable`, `entry_refused`
 */
async function createStartLog(start: readonly SessionEntry[] | string, dir: string, cwd: string): Promise<string> {
	const path = join(dir, "session.jsonl");
	if (typeof start === "string") {
		try {
			readFileSync(start);
			copyFileSync(start, path);
		} catch (cause) {
			throw new PiError("file_unreadable", `The session file ${start} cannot be read`, { cause });
		}
		return path;
	}
	if (start.some((entry) => entry.type === "session"))
		throw new PiError("bad_arguments", "entries must not contain a header; pi adds it as entry 0");
	const log = SessionLog.createAt(path, { cwd });
	log.appendAll(start);
	await log.flush();
	log.close();
	return path;
}
