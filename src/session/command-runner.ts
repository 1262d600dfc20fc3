import type { CommandHost, CommandShell } from "../commands/command.js";
import {
	type CommandSources,
	type FoundCommand,
	findCommand,
	parseCommandLine,
	unknownCommandMessage,
} from "../commands/registry.js";
import { describeError, PiError } from "../errors.js";
import type { HookRunner } from "../hooks/runner.js";
import type { Attachment, CommandResult, CompletionItem, HookUI } from "../hooks/types.js";
import { expandTemplate } from "../resources/prompt-templates.js";
import { readSkill } from "../resources/skills.js";
import { splitArgs } from "../util/split-args.js";
import type { SessionEvent } from "./events.js";
import type { SessionResources } from "./session-parts.js";

/** What running commands needs. */
export interface CommandRunnerDeps {
	sources(): CommandSources;
	resources: SessionResources;
	host: CommandHost;
	hooks(): HookRunner;
	ui(): HookUI;
	shell(): CommandShell | null;
	emit(event: SessionEvent): void;
}

/** What a line turned out to be. */
export type CommandOutcome =
	/** Send this to the agent. */
	| { kind: "prompt"; prompt: string; attachments?: Attachment[] }
	/** The command is done; `status` is what it said. */
	| { kind: "done"; status: string | null };

/** Runs slash commands: built-ins, hooks' own, prompt templates, skills. */
export class CommandRunner {
	constructor(private readonly deps: CommandRunnerDeps) {}

	/**
	 * Runs a line. @returns null when it is no command and is to be sent as it is
	 * @throws PiError `command_failed`; `bad_arguments` for an unknown command
	 */
	async run(text: string, signal: AbortSignal): Promise<CommandOutcome | null> {
		const line = parseCommandLine(text);
		if (!line) return null;
		const found = findCommand(line.name, this.deps.sources());
		if (!found) {
			const { message, hint } = unknownCommandMessage(line.name, this.deps.sources());
			throw new PiError("bad_arguments", message, { hint });
		}
		this.deps.emit({ type: "command_start", name: line.name });
		try {
			return await this.#dispatch(found, line.rest, signal);
		} finally {
			this.deps.emit({ type: "command_end", name: line.name });
		}
	}

	/** Suggestions for the arguments of a command. */
	async complete(name: string, prefix: string, signal: AbortSignal): Promise<CompletionItem[]> {
		const found = findCommand(name, this.deps.sources());
		if (found?.kind === "hook") return this.deps.hooks().complete(name, prefix, signal);
		if (found?.kind !== "builtin") return [];
		return (await found.command.complete?.(prefix, this.deps.host, this.deps.shell())) ?? [];
	}

	async #dispatch(found: FoundCommand, rest: string, signal: AbortSignal): Promise<CommandOutcome> {
		switch (found.kind) {
			case "hook":
				return outcome(await this.deps.hooks().runCommand(found.name, rest, signal));
			case "template": {
				const template = this.deps.resources.templates.find(({ name }) => name === found.name);
				return { kind: "prompt", prompt: template ? expandTemplate(template, rest) : rest };
			}
			case "skill": {
				const skill = this.deps.resources.skills.find(({ name }) => name === found.name);
				return { kind: "prompt", prompt: skill ? await readSkill(skill, rest) : rest };
			}
			case "builtin":
				return outcome(await this.#runBuiltin(found.command, rest, signal));
		}
	}

	async #runBuiltin(command: Extract<FoundCommand, { kind: "builtin" }>["command"], rest: string, signal: AbortSignal) {
		try {
			return await command.run({
				session: this.deps.host,
				ui: this.deps.ui(),
				shell: this.deps.shell(),
				args: splitArgs(rest),
				rest: rest.trim(),
				signal,
			});
		} catch (error) {
			if (error instanceof PiError) throw error;
			throw new PiError("command_failed", `/${command.name} failed: ${describeError(error)}`, { cause: error });
		}
	}
}

function outcome(result: CommandResult | undefined | void): CommandOutcome {
	if (result === undefined) return { kind: "done", status: null };
	if (typeof result === "string") return { kind: "prompt", prompt: result };
	if ("status" in result) return { kind: "done", status: result.status };
	return { kind: "prompt", prompt: result.prompt, ...(result.attachments ? { attachments: result.attachments } : {}) };
}
