import { onTestFinished } from "vitest";
import { type PlainOptions, runPlain } from "../../../src/modes/plain/plain-mode.js";
import type { PlainListener, PlainTerminal } from "../../../src/modes/plain/plain-terminal.js";
import type { AgentSession } from "../../../src/session/agent-session.js";
import { type CreateAgentSessionOptions, createAgentSession } from "../../../src/session/create-session.js";
import { type LoopbackProvider, startProvider } from "../../helpers/loopback-provider.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";

/** Time after which a wait is given up, so that the test says what it waited for. */
const HANGS_AFTER_MS = 12_000;

/** The plain mode on a terminal in memory. */
export interface Talk {
	provider: LoopbackProvider;
	cwd: string;
	agentDir: string;
	session(): AgentSession;
	/** All that was written, with what was typed in its place. */
	text(): string;
	/** Types a line, or pastes several, when the text that is waited for has come since the last call. */
	enter(...lines: string[]): void;
	interrupt(): void;
	end(): void;
	/** Resolves once the text was written after what was waited for before. */
	until(wanted: string | RegExp): Promise<void>;
	/** Whether what is typed shows. */
	echo(): boolean;
	exit: Promise<number>;
}

/** What a talk starts with. */
export interface TalkOptions {
	hooks?: Record<string, string>;
	/** Files of the project, by relative path. */
	files?: Record<string, unknown>;
	mode?: Partial<PlainOptions>;
	session?: CreateAgentSessionOptions["session"];
	agentDir?: string;
	cwd?: string;
}

/** Starts the mode and waits for its first mark; it is quit when the test ends. */
export async function startTalk(options: TalkOptions = {}): Promise<Talk> {
	const provider = await startProvider();
	const agentDir = options.agentDir ?? tempAgentDir({ hooks: options.hooks ?? {} });
	writeFiles(agentDir, { "models.json": provider.modelsJson() });
	const cwd = options.cwd ?? tempDir("pi-project-");
	writeFiles(cwd, options.files ?? {});
	let text = "";
	let seen = 0;
	let isEchoing = true;
	let listener: PlainListener | null = null;
	const terminal: PlainTerminal = {
		write: (data) => {
			text += data;
		},
		start: (heard) => {
			listener = heard;
		},
		setEcho: (isOn) => {
			isEchoing = isOn;
		},
		stop: () => {
			listener = null;
		},
	};
	let session: AgentSession | null = null;
	const exit = runPlain({
		version: "0.1",
		terminal,
		startSession: async ({ askTrust }) => {
			session = await createAgentSession({
				model: "loopback/scripted",
				session: options.session ?? { kind: "memory" },
				offline: true,
				cwd,
				home: tempDir("pi-home-"),
				env: { PI_CODING_AGENT_DIR: agentDir, PATH: process.env.PATH },
				askTrust,
			});
			return session;
		},
		...options.mode,
	});
	const talk: Talk = {
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
			if (isEchoing) for (const line of lines) text += `${line}\n`;
			listener?.onLines(lines);
		},
		interrupt: () => {
			text += "^C";
			listener?.onInterrupt();
		},
		end: () => listener?.onEnd(),
		echo: () => isEchoing,
		until: async (wanted) => {
			const deadline = Date.now() + HANGS_AFTER_MS;
			for (;;) {
				const at = typeof wanted === "string" ? text.indexOf(wanted, seen) : seen + text.slice(seen).search(wanted);
				if (at >= seen) {
					seen = at + 1;
					return;
				}
				if (Date.now() > deadline) throw new Error(`${String(wanted)} was never said:\n${text}`);
				await new Promise((resolve) => setTimeout(resolve, 5));
			}
		},
	};
	onTestFinished(async () => {
		talk.end();
		await exit;
	});
	return talk;
}

/** A talk with what differs between runs made equal. */
export function stable(text: string): string {
	return text.replace(/\d+\.\d s/g, "0.0 s").replace(/(pi-(?:agent|project|home)-)\w+/g, "$1xxxxxx");
}
