import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { processEnvironment } from "../config/paths.js";
import type { SettingsFile } from "../config/settings-schema.js";
import { fullText } from "../context/ledger.js";
import { PiError } from "../errors.js";
import { NO_UI } from "../hooks/host-context.js";
import { isMessageEntry, messageText, type SessionEntry } from "../log/entry.js";
import type { AgentSession } from "../session/agent-session.js";
import { createAgentSession } from "../session/create-session.js";
import type { AgentSessionEvent } from "../session/events.js";
import { type AskedDialog, createScriptedUI, type DialogAnswer } from "./scripted-dialogs.js";
import {
	createScriptedModel,
	type Reply,
	type ScriptedModel,
	type SeenMessage,
	type SeenRequest,
} from "./scripted-model.js";

/** What a test of hooks starts with. */
export interface HookTestOptions {
	/** Hook files, in load order. Relative paths start at the directory that the tests run in. */
	hooks: readonly (string | URL)[];
	/** What the model says, one reply for each request, those of hooks and compactions included. */
	replies?: readonly Reply[];
	/** What the user answers, one for each dialog. */
	dialogs?: readonly DialogAnswer[];
	/** Files of the project, text by relative path. They are written into the working directory. */
	files?: Readonly<Record<string, string>>;
	/** The working directory. Absent: a new one, which `dispose` removes. */
	cwd?: string;
	/** What the user's settings.json holds, such as `hookGrants`. Failed requests are not repeated unless `retry` says so. */
	settings?: SettingsFile;
	/** False: as in print mode, every dialog is cancelled at once. */
	hasUI?: boolean;
}

/** What came of a prompt or a command. */
export interface RunResult {
	/** What a command answered for the user; null when it was no command, or one without an answer. */
	status: string | null;
	/** Text of the last reply that the session got; null when the model was not asked. */
	reply: string | null;
}

/** A session with hooks and nothing else: in memory, with a scripted model and a scripted user. */
export interface HookTest {
	readonly session: AgentSession;
	readonly cwd: string;
	/** What the model was sent so far, one for each request. */
	readonly requests: readonly SeenRequest[];
	/** Everything in the session; index 0 is the header. */
	readonly entries: readonly SessionEntry[];
	/** What the next request would hold as the session stands, and where it comes from; `hook` is a path, or null. */
	readonly context: readonly (SeenMessage & { entryIndex: number | null; hook: string | null })[];
	/** Lines that the user was shown: of `ui.notify`, of commands, and warnings of the session. */
	readonly notices: readonly string[];
	/** Handlers that failed and answers that were refused, as `event: reason`. */
	readonly errors: readonly string[];
	/** The dialogs that hooks opened. */
	readonly asked: readonly AskedDialog[];
	/**
	 * Types a line and waits until all is quiet again, also of what hooks send meanwhile.
	 * @throws PiError `command_failed`, `bad_arguments` of commands; `bad_arguments` when the script had no reply or no
	 * answer, or a reply of it threw
	 */
	run(text: string): Promise<RunResult>;
	/** Adds replies to the end of the script. */
	reply(...replies: readonly Reply[]): void;
	/** Ends the session, so that hooks see `shutdown`, and removes what was made for it. Safe to call more than once. */
	dispose(): Promise<void>;
}

/**
 * Starts a session with hooks: they are loaded as pi loads them and have seen `start` when the promise resolves. Tools
 * are the real ones and work in the working directory; nothing uses the network but what a hook does itself.
 * @throws PiError `hook_load_failed` when a hook does not load; `bad_arguments` when `start` opened a dialog that has no
 * answer
 */
export async function createHookTest(options: HookTestOptions): Promise<HookTest> {
	const problems: string[] = [];
	const home = realpathSync(mkdtempSync(join(tmpdir(), "pi-hook-test-")));
	const scripted = await createScriptedModel((problem) => problems.push(problem));
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
	const hooks = new Set(options.hooks.map((hook) => resolve(hook instanceof URL ? fileURLToPath(hook) : hook)));
	const session = await createAgentSession({
		cwd,
		home,
		env: { PI_CODING_AGENT_DIR: agentDir, PATH: processEnvironment().PATH },
		session: { kind: "memory" },
		model: scripted.model,
		apiKey: "none",
		extraModels: [scripted.model],
		hooks: [...hooks],
		discoverHooks: false,
		discoverSkills: false,
		contextFiles: false,
		offline: true,
	});
	const notices: string[] = [];
	const errors: string[] = [];
	const asked: AskedDialog[] = [];
	session.subscribe((event) => listen(event, notices, errors));
	const watcher = {
		onAsked: (dialog: AskedDialog) => void asked.push(dialog),
		onNotify: (message: string) => void notices.push(message),
		onProblem: (problem: string) => void problems.push(problem),
	};
	const hasUI = options.hasUI !== false;
	const ui = hasUI ? createScriptedUI(options.dialogs ?? [], watcher) : { ...NO_UI, notify: watcher.onNotify };
	session.attachUI(ui, null, hasUI);
	let disposed: Promise<void> | null = null;
	const dispose = () => {
		disposed ??= session.dispose().finally(cleanUp);
		return disposed;
	};
	await session.start();
	try {
		const { hooks: loaded, warnings } = session.loaded;
		if (loaded.length < hooks.size) throw new PiError("hook_load_failed", warnings.join("; ") || "A hook did not load");
		refuse(problems);
	} catch (error) {
		await dispose();
		throw error;
	}
	return {
		session,
		cwd,
		requests: scripted.requests,
		notices,
		errors,
		asked,
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
		run: (text) => run(session, text, problems),
		reply: (...replies) => scripted.add(replies),
		dispose,
	};
}

async function run(session: AgentSession, text: string, problems: string[]): Promise<RunResult> {
	const before = session.entries.length;
	problems.length = 0;
	const outcome = await session.prompt(text);
	await idle(session);
	refuse(problems);
	const reply = session.entries
		.slice(before)
		.findLast((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	return {
		status: outcome.kind === "command" ? outcome.status : null,
		reply: isMessageEntry(reply) ? messageText(reply.message) : null,
	};
}

/** @throws PiError `bad_arguments` with the first problem of the script */
function refuse([problem]: readonly string[]): void {
	if (problem !== undefined) throw new PiError("bad_arguments", problem);
}

/** Resolves when nothing is active any more, runs that hooks began included. */
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

function listen(event: AgentSessionEvent, notices: string[], errors: string[]): void {
	if (event.type === "notice") notices.push(event.message);
	else if (event.type === "hook_error") errors.push(`${event.event}: ${event.error}`);
}

function writeFiles(dir: string, files: Readonly<Record<string, string>>): void {
	mkdirSync(dir, { recursive: true });
	for (const [path, content] of Object.entries(files)) {
		const target = resolve(dir, path);
		mkdirSync(dirname(target), { recursive: true });
		writeFileSync(target, content);
	}
}
