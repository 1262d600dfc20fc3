import type { CommandShell } from "../../commands/command.js";
import { describeError, PiError } from "../../errors.js";
import { isPartOfPi } from "../../hooks/hook-scope.js";
import type { SourceImage } from "../../images/sent-image.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { elsewhereOf } from "../../tools/machine/elsewhere.js";
import { TIMING, type Timing } from "../../util/clock.js";
import { exitBySignal } from "../../util/signals.js";
import { createLeave, type Leave } from "../end-question.js";
import { plural } from "../format.js";
import { mentionedImages } from "../mentioned-images.js";
import { endSession, exitCodeOf, leaveSession } from "../session-end.js";
import type { StartQuestions } from "../start-questions.js";
import { parseSubmission } from "../submission.js";
import { keepUnsent, takeUnsent } from "../unsent-text.js";
import { Narrator } from "./narrator.js";
import { PlainDialogs } from "./plain-dialogs.js";
import { codeLine, PlainOutput, plainLine } from "./plain-output.js";
import { PlainScreen } from "./plain-screen.js";
import { createPlainShell } from "./plain-shell.js";
import { type PlainTerminal, ProcessPlainTerminal, type TypedLine } from "./plain-terminal.js";
import { Questions } from "./questions.js";

interface FirstPrompt {
	text: string;
	images?: readonly SourceImage[];
}

/** Options of the plain mode. */
export interface PlainOptions {
	/** Creates the session; the mode starts it. */
	startSession(questions: StartQuestions): Promise<AgentSession>;
	version: string;
	/** Prompts sent first, in order; a function is called once hooks have loaded. */
	prompts?: readonly FirstPrompt[] | (() => Promise<readonly FirstPrompt[]>);
	/** A prompt to suggest: Enter on an empty line sends it. */
	suggestion?: string;
	/** Runs the demo after the mode has exited; absent in the demo itself. */
	startDemo?: () => void;
	/** Default: that of the process. */
	terminal?: PlainTerminal;
	timing?: Timing;
}

/** A second Ctrl+C within this time quits, in ms. */
const TWICE_MS = 2000;

/**
 * Runs pi with line-by-line output: no redraws, no cursor movement, no control characters.
 * @returns the exit code
 * @throws errors of `startSession`
 */
export function runPlain(options: PlainOptions): Promise<number> {
	return new PlainMode(options).run();
}

class PlainMode {
	readonly #terminal: PlainTerminal;
	readonly #timing: Timing;
	readonly #output: PlainOutput;
	readonly #questions: Questions;
	readonly #dialogs: PlainDialogs;
	readonly #screen: PlainScreen;
	readonly #quitting: Promise<void>;
	#quit = () => {};
	readonly #leaveMode: Leave;
	#session: AgentSession | null = null;
	#narrator: Narrator | null = null;
	/** Lines typed before the session started, or behind such lines; null once all are delivered. */
	#early: string[] | null = [];
	/** Previous lines of the current input, which ended with a backslash. */
	#unfinished: string[] = [];
	#draft: string | null;
	#interruptedAt = Number.NEGATIVE_INFINITY;
	#hasEnded = false;

	constructor(private readonly options: PlainOptions) {
		this.#terminal = options.terminal ?? new ProcessPlainTerminal();
		this.#timing = options.timing ?? TIMING;
		this.#output = new PlainOutput(
			(text) => this.#terminal.write(text),
			() => this.#terminal.echoed(),
		);
		this.#questions = new Questions({
			output: this.#output,
			terminal: this.#terminal,
			timing: this.#timing,
			onTyped: (text) => {
				// It stands at the end of the last row.
				if (text !== "") this.#output.breakLine();
				this.#keep(text);
			},
			onFree: () => this.#ready(),
		});
		this.#screen = new PlainScreen({
			output: this.#output,
			isIdle: () => this.#early === null && !this.#isBusy,
			getDraft: () => this.#draft ?? "",
			setDraft: (text) => {
				this.#draft = text;
			},
		});
		this.#dialogs = new PlainDialogs(this.#questions, (level, message) => this.#notice(level, message), this.#screen);
		this.#draft = options.suggestion ?? null;
		this.#quitting = new Promise((resolve) => {
			this.#quit = resolve;
		});
		this.#leaveMode = createLeave(
			() => this.#session,
			this.#dialogs,
			() => this.#quit(),
		);
	}

	async run(): Promise<number> {
		const { version } = this.options;
		this.#terminal.start({
			onLines: (lines) => this.#take(lines),
			onInterrupt: () => this.#interrupt(),
			onEnd: () => this.#end(),
		});
		const release = this.#guard();
		this.#output.say(`pi ${version}, plain mode. /help lists all commands. Ctrl+C aborts a run, Ctrl+D quits`);
		let said: string[] = [];
		try {
			await Promise.race([this.#begin(), this.#quitting]);
			await this.#quitting;
			if (this.#session) said = leaveSession(this.#session, this.#keepUnsent(this.#session));
			this.#output.close();
			for (const line of said) this.#output.say(line);
		} finally {
			this.#hasEnded = true;
			this.#questions.close();
			this.#output.close();
			this.#terminal.stop();
			await endSession(this.#session);
			release();
		}
		return exitCodeOf(this.#session, said, (line) => this.#output.say(line));
	}

	async #begin(): Promise<void> {
		const session = await this.options.startSession({
			ui: this.#dialogs,
			showCode: async (_, code) => {
				for (const line of code) this.#output.say(codeLine(line));
			},
			// Plain mode changes no terminal state that needs restoring.
			lastBytes: "",
		});
		this.#session = session;
		if (this.#hasEnded) return endSession(session);
		const narrator = new Narrator(session, this.#output);
		this.#narrator = narrator;
		session.attachUI(this.#dialogs, this.#shell(session));
		session.mode = "plain";
		for (const warning of new Set(session.loaded.warnings)) narrator.notice("warning", warning);
		session.subscribe((event) => {
			if (event.type !== "session_changed" || event.reason !== "start") narrator.handle(event);
			if (event.type === "queue_returned") this.#restore(event.texts);
			if (event.type === "session_changed" && event.reason === "switch") this.#restoreUnsent(session, false);
			if (event.type === "activity_changed" && event.activity.state === "idle") this.#ready();
		});
		await session.start();
		narrator.begin();
		this.#greet(session, narrator);
		this.#restoreUnsent(session, true);
		if (session.model === null) await this.#do(() => session.prompt("/setup"));
		const { prompts: given = [] } = this.options;
		const prompts = typeof given === "function" ? await given() : given;
		void this.#sendAll(session, prompts);
		await this.#submitEarly();
	}

	/** Delivers the lines typed during startup in order, each after the end of the shell command before it. */
	async #submitEarly(): Promise<void> {
		for (let line = this.#early?.shift(); line !== undefined; line = this.#early?.shift()) {
			const done = this.#submit(line);
			if (parseSubmission(line)?.kind === "bash") await done;
		}
		this.#early = null;
		this.#ready();
	}

	#greet(session: AgentSession, narrator: Narrator): void {
		const { hooks, skills, templates, contextFiles } = session.loaded;
		const own = hooks.filter((hook) => !isPartOfPi(hook));
		const loaded = [
			own.length > 0 ? plural(own.length, "hook") : "",
			skills.length > 0 ? plural(skills.length, "skill") : "",
			templates.length > 0 ? plural(templates.length, "prompt template") : "",
			contextFiles.length > 0 ? plural(contextFiles.length, "context file") : "",
		].filter(Boolean);
		const model = session.model ? `Model ${plainLine(session.model.name)}` : "No model";
		this.#output.say([model, ...loaded].join(", "));
		this.#output.say(narrator.describeSession());
	}

	async #sendAll(session: AgentSession, prompts: readonly FirstPrompt[]): Promise<void> {
		for (const { text, images } of prompts) {
			this.#output.say(`you: ${text}`);
			await this.#prompt(session, text, images);
		}
	}

	/** Passes typed lines to the open question, otherwise to the session. */
	#take(typed: readonly TypedLine[]): void {
		this.#output.lineEnded();
		if (this.#questions.isOpen) {
			const rest = typed.filter((line) => !this.#questions.answer(line) && !line.isSecret);
			this.#keep(rest.map(({ text }) => text).join("\n"));
			return;
		}
		const lines = typed.filter(({ isSecret }) => !isSecret);
		if (lines.length === 0) return;
		const text = [...this.#unfinished, ...lines.map(({ text }) => text)].join("\n");
		if (/(?:^|[^\\])\\$/.test(text)) {
			this.#unfinished = [text.slice(0, -1)];
			this.#output.ask("more> ");
			return;
		}
		this.#unfinished = [];
		if (this.#early) this.#early.push(text);
		else void this.#submit(text);
	}

	async #submit(text: string): Promise<void> {
		const session = this.#session;
		const draft = this.#draft;
		this.#draft = null;
		const line = text.trim() === "" && draft !== null ? draft : text.trim() === "?" ? "/help" : text;
		const submission = parseSubmission(line);
		if (!session || !submission) {
			this.#ready();
			return;
		}
		this.#output.ask(null);
		this.#screen.beginPrompt();
		if (submission.kind === "bash") {
			const { command, excludeFromContext } = submission;
			await this.#do(() => session.runBash(command, { excludeFromContext }));
		} else {
			const { text } = submission;
			const named = elsewhereOf(session.host) === null ? mentionedImages(text, session) : [];
			await this.#prompt(
				session,
				text,
				named.map(({ image }) => image),
			);
		}
	}

	/** Sends a prompt. A prompt that a hook refuses becomes the draft. */
	async #prompt(session: AgentSession, text: string, images: readonly SourceImage[] = []): Promise<void> {
		await this.#do(async () => {
			try {
				const { kind } = await session.prompt(text, { images, source: "editor" });
				if (kind === "queued") this.#output.say("queued: pi sends it after the current tool calls");
			} catch (error) {
				if (error instanceof PiError && error.code === "prompt_refused") this.#draft = text;
				throw error;
			}
		});
	}

	/** Runs an action of the session and reports its errors. */
	async #do(action: () => Promise<unknown>): Promise<void> {
		try {
			await action();
		} catch (error) {
			this.#notice("error", describeError(error));
		} finally {
			this.#ready();
		}
	}

	get #isBusy(): boolean {
		return this.#session !== null && this.#session.activity.state !== "idle";
	}

	/** Puts prompts that were not sent before the run ended in front of the draft. */
	#restore(texts: readonly string[]): void {
		for (const text of texts) this.#output.say(`not sent: ${text}`);
		this.#draft = [...texts, this.#draft ?? ""].filter(Boolean).join("\n\n");
	}

	/** Puts what was not sent when the session ended the last time in front of the draft. */
	#restoreUnsent(session: AgentSession, isStart: boolean): void {
		const text = takeUnsent(session, isStart);
		if (text !== "") this.#restore([text]);
	}

	/** Keeps what was not sent for the next time. @returns a line for the user; null if nothing was kept */
	#keepUnsent(session: AgentSession): string | null {
		const { steering, followUps } = session.queue;
		const draft = this.#draft === this.options.suggestion ? null : this.#draft;
		const typed = [draft ?? "", ...(this.#early ?? []), this.#unfinished.join("\n")];
		return keepUnsent(session, [...steering, ...followUps, ...typed]);
	}

	/** Keeps text that was typed when a question opened, which does not answer it, behind the draft. */
	#keep(text: string): void {
		if (text.trim() === "" || this.#hasEnded) return;
		this.#output.say(`kept for the next prompt: ${plainLine(text, 4000)}`);
		this.#draft = [this.#draft ?? "", text].filter(Boolean).join("\n\n");
	}

	/** Shows the prompt mark when the session is idle. Lines typed while it is busy are accepted, too. */
	#ready(): void {
		if (this.#hasEnded || this.#questions.isOpen) return;
		if (this.#isBusy || this.#early) this.#output.ask(null);
		else {
			this.#screen.printStatuses();
			if (this.#draft !== null) this.#output.say(`Press Enter to send: ${plainLine(this.#draft, 4000)}`);
			this.#output.ask();
		}
	}

	/** Ctrl+D: cancels the open question, and quits. */
	#end(): void {
		this.#questions.cancel();
		this.#leave("all");
	}

	/** Quits, after a question if that loses or ends something. Reports a failure. */
	#leave(...how: Parameters<Leave>): void {
		void this.#do(() => this.#leaveMode(...how));
	}

	/** Cancels the open question, or aborts the run; if idle, the second Ctrl+C quits. */
	#interrupt(): void {
		this.#output.breakLine();
		const isSecond = this.#timing.now() - this.#interruptedAt < TWICE_MS;
		this.#interruptedAt = Number.NEGATIVE_INFINITY;
		if (this.#questions.isOpen) this.#questions.cancel();
		else if (this.#session && this.#isBusy) void this.#stop(this.#session);
		else if (isSecond) this.#leave("entries");
		else {
			this.#interruptedAt = this.#timing.now();
			this.#unfinished = [];
			this.#output.say("Press Ctrl+C again to quit");
			this.#ready();
		}
	}

	async #stop(session: AgentSession): Promise<void> {
		const texts = await session.abort();
		if (texts.length === 0) return;
		this.#restore(texts);
		this.#ready();
	}

	#notice(level: "info" | "warning" | "error", message: string): void {
		if (this.#narrator) this.#narrator.notice(level, message);
		else this.#output.say(level === "info" ? message : `${level === "error" ? "Error" : "Warning"}: ${message}`);
	}

	#shell(session: AgentSession): CommandShell {
		const { startDemo } = this.options;
		return createPlainShell({
			session,
			output: this.#output,
			dialogs: this.#dialogs,
			setDraft: (text) => {
				this.#draft = text;
			},
			quit: () => this.#leave("entries"),
			leave: (signal) => this.#leaveMode("work", signal),
			...(startDemo && {
				startDemo: () =>
					this.#leave("entries", undefined, () => {
						startDemo();
						this.#quit();
					}),
			}),
		});
	}

	/** Ends the session cleanly on SIGTERM and SIGHUP. */
	#guard(): () => void {
		const signals = ["SIGTERM", "SIGHUP"] as const;
		const listeners = signals.map((signal) => {
			const listener = () => {
				this.#terminal.stop();
				if (this.#session && !this.#hasEnded) this.#keepUnsent(this.#session);
				void endSession(this.#session).finally(() => exitBySignal(signal));
			};
			process.on(signal, listener);
			return () => process.off(signal, listener);
		});
		return () => {
			for (const release of listeners) release();
		};
	}
}
