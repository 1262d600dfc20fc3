import { expect, onTestFinished, vi } from "vitest";
import { type PlainOptions, runPlain } from "../../../src/modes/plain/plain-mode.js";
import type { PlainListener, PlainTerminal } from "../../../src/modes/plain/plain-terminal.js";
import { askTrust } from "../../../src/modes/start-questions.js";
import type { AgentSession } from "../../../src/sdk/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/sdk/create-session.js";
import { PAUSE_MS } from "../../../src/util/clock.js";
import { FakeTiming } from "../../helpers/fake-timing.js";
import { type LoopbackModelOptions, type LoopbackProvider, startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

/** ms after which a wait fails, so that the test reports what it waited for. */
const HANGS_AFTER_MS = 12_000;

/** The plain mode on a terminal in memory. */
export interface PlainSession {
	provider: LoopbackProvider;
	cwd: string;
	agentDir: string;
	session(): AgentSession;
	/** All output, including the typed input. */
	text(): string;
	/** Types a line, or pastes several, after the time in which a question can be read. */
	enter(...lines: string[]): void;
	/** Types a line, or pastes several, at once. */
	enterAtOnce(...lines: string[]): void;
	/** Types text without ending the line. */
	type(text: string): void;
	/** Lets time pass, in ms. */
	pass(ms: number): void;
	interrupt(): void;
	end(): void;
	/** Resolves when the text appears after the text of the previous call. */
	until(wanted: string | RegExp): Promise<void>;
	/** Whether typed text is echoed. */
	echo(): boolean;
	exit: Promise<number>;
}

/** Options of a plain session. */
export interface PlainSessionOptions {
	hooks?: Record<string, string>;
	/** Files of the project, by relative path. */
	files?: Record<string, unknown>;
	mode?: Partial<PlainOptions>;
	session?: CreateAgentSessionOptions["session"];
	agentDir?: string;
	cwd?: string;
	modelOptions?: LoopbackModelOptions;
}

/** Starts the mode and waits for its first prompt mark; quits it when the test ends. */
export async function startPlain(options: PlainSessionOptions = {}): Promise<PlainSession> {
	const provider = await startProvider();
	const agentDir = options.agentDir ?? tempAgentDir({ hooks: options.hooks ?? {} });
	writeFiles(agentDir, { "models.json": provider.modelsJson(options.modelOptions) });
	const cwd = options.cwd ?? tempDir("pi-project-");
	writeFiles(cwd, options.files ?? {});
	let text = "";
	let seen = 0;
	let isEchoing = true;
	let unfinished = "";
	const timing = new FakeTiming();
	const takeUnfinished = () => {
		const typed = unfinished;
		unfinished = "";
		return typed;
	};
	const enterAtOnce = (...lines: string[]) => {
		if (isEchoing) for (const line of lines) text += `${line}\n`;
		const typed = { begunAt: timing.now(), isPasted: lines.length > 1, isSecret: !isEchoing };
		listener?.onLines(lines.map((text) => ({ ...typed, text })));
	};
	let listener: PlainListener | null = null;
	const terminal: PlainTerminal = {
		write: (data) => {
			text += data;
		},
		start: (heard) => {
			listener = heard;
		},
		openLine: async (isHidden) => {
			isEchoing = !isHidden;
			return takeUnfinished();
		},
		closeLine: () => {
			isEchoing = true;
			return takeUnfinished();
		},
		echoed: () => unfinished,
		stop: () => {
			listener = null;
		},
	};
	let session: AgentSession | null = null;
	const exit = runPlain({
		version: "0.1",
		terminal,
		timing,
		startSession: async (questions) => {
			session = await createAgentSession({
				model: "loopback/scripted",
				session: options.session ?? { kind: "memory" },
				localServers: { ports: {} },
				cwd,
				home: tempDir("pi-home-"),
				env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH },
				askTrust: (set) => askTrust(set, questions),
			});
			return session;
		},
		...options.mode,
	});
	const plain: PlainSession = {
		provider,
		cwd,
		agentDir,
		exit,
		session: () => {
			if (!session) throw new Error("The session is not there yet");
			return session;
		},
		text: () => text,
		enter: (...lines) => {
			timing.pass(PAUSE_MS);
			enterAtOnce(...lines);
		},
		enterAtOnce,
		type: (typed) => {
			unfinished += typed;
			text += typed;
		},
		pass: (ms) => timing.pass(ms),
		interrupt: () => {
			text += "^C";
			listener?.onInterrupt();
		},
		end: () => listener?.onEnd(),
		echo: () => isEchoing,
		until: async (wanted) => {
			const isSaid = () => {
				const at = typeof wanted === "string" ? text.indexOf(wanted, seen) : seen + text.slice(seen).search(wanted);
				if (at < seen) throw new Error(`${String(wanted)} was never said:\n${text}`);
				seen = at + 1;
			};
			await vi.waitFor(isSaid, { timeout: HANGS_AFTER_MS, interval: 5 });
		},
	};
	onTestFinished(async () => {
		plain.end();
		await exit;
	});
	return plain;
}

/** The output with values that differ between runs replaced. */
export function stable(text: string): string {
	return text.replace(/\d+\.\d s/g, "0.0 s").replace(/(pi-(?:agent|project|home)-)\w+/g, "$1xxxxxx");
}

/** Asserts that the output contains only text and line ends, and no box-drawing characters. */
export function expectPlain(plain: PlainSession): void {
	expect(plain.text()).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
	expect(plain.text()).not.toMatch(/[\u2500-\u259f]/);
}
