import type { ImageContent, UserMessage } from "@mariozechner/pi-ai";
import type { RunOutcome } from "../agent/loop.js";
import { describeError } from "../errors.js";
import type { Attachment } from "../hooks/types.js";
import type { CommandOutcome, CommandRunner } from "./command-runner.js";
import type { PromptOutcome } from "./outcomes.js";
import type { SessionRunner } from "./session-run.js";
import { createUserMessage, type PromptExtras } from "./user-message.js";

/** What prompts act on. */
export interface PrompterDeps {
	commands: CommandRunner;
	runner: SessionRunner;
	/** Aborted when the session ends. */
	ended: AbortSignal;
	notice(level: "info" | "warning" | "error", message: string): void;
}

/** Finds out what a line of the user or of a hook is, and begins, steers or queues what it asks for. */
export class Prompter {
	#command: AbortController | null = null;
	/** False in print mode, where nothing can start a run but the prompt. */
	acceptsSend = true;

	constructor(private readonly deps: PrompterDeps) {}

	/** As `AgentSession.prompt`. */
	async prompt(text: string, extras: PromptExtras): Promise<PromptOutcome> {
		const command = await this.#runCommand(text);
		if (command?.kind === "done") {
			if (command.status !== null) this.deps.notice("info", command.status);
			return { kind: "command", status: command.status };
		}
		if (command) return this.send(command.prompt, { attachments: command.attachments ?? [] });
		return this.send(text, extras);
	}

	/** As `prompt`, but a leading slash means nothing. */
	async send(text: string, extras: PromptExtras = {}): Promise<PromptOutcome> {
		const message = createUserMessage(text, extras);
		if (message.content.length === 0) return { kind: "command", status: null };
		const { runner } = this.deps;
		if (runner.isRunning) {
			runner.queue.steer({ text, message });
			return { kind: "queued" };
		}
		return { kind: "run", outcome: await this.#start(message) };
	}

	/** Says something once the run is over; at once when none is on. */
	async followUp(text: string, images: readonly ImageContent[]): Promise<void> {
		const { runner } = this.deps;
		if (!runner.isRunning) return void (await this.send(text, { images }));
		runner.queue.followUp({ text, message: createUserMessage(text, { images }) });
	}

	/** Takes a prompt from a hook (`pi.send`). */
	receive(text: string, attachments: readonly Attachment[]): void {
		if (!this.acceptsSend) {
			this.deps.notice("warning", "pi.send is not supported in print mode");
			return;
		}
		void this.send(String(text), { attachments }).catch((error) => this.deps.notice("error", describeError(error)));
	}

	/** Stops the command that runs. */
	abortCommand(): void {
		this.#command?.abort();
	}

	async #start(message: UserMessage): Promise<RunOutcome> {
		const outcome = await this.deps.runner.start([message], this.deps.ended);
		if (outcome.stopped !== null) this.deps.notice("warning", outcome.stopped);
		return outcome;
	}

	async #runCommand(text: string): Promise<CommandOutcome | null> {
		const controller = new AbortController();
		this.#command = controller;
		try {
			return await this.deps.commands.run(text, controller.signal);
		} finally {
			if (this.#command === controller) this.#command = null;
		}
	}
}
