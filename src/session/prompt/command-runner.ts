import type { ChoiceOptions, CommandSession, CommandShell, CommandUI } from "../../commands/command.js";
import {
	type CommandSources,
	type FoundCommand,
	findCommand,
	parseSlashCommand,
	unknownCommandMessage,
} from "../../commands/command-registry.js";
import { describeError, PiError } from "../../errors.js";
import type { HookRunner } from "../../hooks/runner.js";
import type { SessionUI } from "../../hooks/session-ui.js";
import type { Attachment, CommandResult, CompletionItem, DialogOptions, SelectManyOptions } from "../../hooks/types.js";
import type { SessionLog } from "../../log/session-log.js";
import { expandTemplate } from "../../resources/prompt-templates.js";
import type { Skill } from "../../resources/skills.js";
import type { SessionResources } from "../../services/service-types.js";
import { abortable } from "../../util/abort.js";
import { splitArgs } from "../../util/split-args.js";
import type { SessionActivity } from "../activity.js";
import type { AgentSessionEvent } from "../events.js";
import type { SessionMcp } from "../session-mcp.js";

export interface CommandRunnerDeps {
	activity: SessionActivity;
	sources(): CommandSources;
	resources: SessionResources;
	/** The prompt of a skill. */
	readSkill(skill: Skill, rest: string): Promise<string>;
	host(): CommandSession;
	hooks(): HookRunner;
	mcp: Pick<SessionMcp, "runPrompt" | "completePrompt">;
	ui(): SessionUI;
	shell(): CommandShell | null;
	/** The log of the session. */
	log(): Pick<SessionLog, "length" | "flush">;
	emit(event: AgentSessionEvent): void;
}

/** The result of a command line. */
export type CommandLineResult =
	/** Text to send to the agent; `fromHook`, `fromServer`: a hook or an MCP server wrote it. */
	| { kind: "prompt"; prompt: string; attachments?: readonly Attachment[]; fromHook?: true; fromServer?: true }
	/** The command is done; `status` is the line it reports. */
	| { kind: "done"; status: string | null };

/** Runs slash commands: built-in ones, those of hooks, prompt templates and skills. */
export class CommandRunner {
	constructor(private readonly deps: CommandRunnerDeps) {}

	/**
	 * Runs a slash command, once a reload that runs has ended unless it is built in. An abort stops waiting for it, and drops its prompt.
	 * @returns null if the line is not a command and should be sent as text
	 * @throws PiError `command_failed`; `bad_arguments` for an unknown command; `session_busy`
	 */
	async run(text: string): Promise<CommandLineResult | null> {
		const line = parseSlashCommand(text);
		if (!line) return null;
		let found = findCommand(line.name, this.deps.sources());
		if (found?.kind !== "builtin" && this.#isReloading) {
			await this.#untilReloaded();
			found = findCommand(line.name, this.deps.sources());
		}
		if (!found) {
			const { message, hint } = unknownCommandMessage(line.name, this.deps.sources());
			throw new PiError("bad_arguments", message, { hint });
		}
		const { activity, emit } = this.deps;
		activity.check("command");
		const operation = activity.begin("command", { name: line.name });
		emit({ type: "command_start", name: line.name });
		try {
			const result = await this.#saved(() => this.#dispatch(found, line.rest, operation.signal));
			return operation.signal.aborted && result.kind === "prompt" ? { kind: "done", status: null } : result;
		} finally {
			emit({ type: "command_end", name: line.name });
			operation.end();
		}
	}

	/**
	 * Runs a shortcut of a hook, as a command without arguments.
	 * @throws PiError `command_failed`, `session_busy`
	 */
	async runShortcut({ id, key }: { id: string; key: string }): Promise<CommandLineResult> {
		const { activity, hooks } = this.deps;
		if (this.#isReloading) await this.#untilReloaded();
		activity.check("command");
		const operation = activity.begin("command", { name: `shortcut ${key}` });
		try {
			return toLineResult(await this.#saved(() => hooks().runShortcut(id, operation.signal)));
		} finally {
			operation.end();
		}
	}

	/** Runs a command and waits until its entries are on disk. */
	async #saved<T>(run: () => Promise<T>): Promise<T> {
		const log = this.deps.log();
		const { length } = log;
		try {
			return await run();
		} finally {
			if (log.length > length) await log.flush();
		}
	}

	/** True during a reload: commands may be added, and those of old hooks disappear. */
	get #isReloading(): boolean {
		return this.deps.activity.current.operations.some(({ kind, name }) => kind === "switching" && name === "reload");
	}

	async #untilReloaded(): Promise<void> {
		while (this.#isReloading) await this.deps.activity.changed();
	}

	/** Completions for the arguments of a command. */
	async complete(name: string, prefix: string, signal: AbortSignal): Promise<CompletionItem[]> {
		const found = findCommand(name, this.deps.sources());
		if (found?.kind === "hook") return this.deps.hooks().complete(name, prefix, signal);
		if (found?.kind === "mcp") return this.deps.mcp.completePrompt(name, prefix, signal);
		if (found?.kind !== "builtin") return [];
		return (await found.command.complete?.(prefix, this.deps.host(), this.deps.shell())) ?? [];
	}

	async #dispatch(found: FoundCommand, rest: string, signal: AbortSignal): Promise<CommandLineResult> {
		switch (found.kind) {
			case "hook":
				return fromHook(toLineResult(await this.deps.hooks().runCommand(found.name, rest, signal)));
			case "template": {
				const template = this.deps.resources.templates.find(({ name }) => name === found.name);
				return { kind: "prompt", prompt: template ? expandTemplate(template, rest) : rest };
			}
			case "skill": {
				const skill = this.deps.resources.skills.find(({ name }) => name === found.name);
				return { kind: "prompt", prompt: skill ? await this.deps.readSkill(skill, rest) : rest };
			}
			case "mcp":
				return this.#runPrompt(found.name, rest, signal);
			case "builtin":
				return toLineResult(await this.#runBuiltin(found.command, rest, signal));
		}
	}

	async #runPrompt(name: string, rest: string, signal: AbortSignal): Promise<CommandLineResult> {
		try {
			return { kind: "prompt", fromServer: true, ...(await this.deps.mcp.runPrompt(name, rest, signal)) };
		} catch (error) {
			if (signal.aborted) return { kind: "done", status: null };
			throw error;
		}
	}

	async #runBuiltin(command: Extract<FoundCommand, { kind: "builtin" }>["command"], rest: string, signal: AbortSignal) {
		if (command.argumentHint === undefined && rest.trim() !== "") {
			const hint = `send /${command.name} alone`;
			throw new PiError("bad_arguments", `/${command.name} takes no arguments`, { hint });
		}
		try {
			const running = command.run({
				session: this.deps.host(),
				ui: commandDialogs(this.deps.ui(), signal),
				shell: this.deps.shell(),
				args: splitArgs(rest),
				rest: rest.trim(),
				signal,
			});
			// A command may wait for something that ignores the signal, such as a login in the browser.
			return await abortable(running, signal);
		} catch (error) {
			if (signal.aborted) return undefined;
			if (error instanceof PiError) throw error;
			throw new PiError("command_failed", `/${command.name} failed: ${describeError(error)}`, { cause: error });
		}
	}
}

function toLineResult(result: CommandResult | undefined | void): CommandLineResult {
	if (result === undefined) return { kind: "done", status: null };
	if (typeof result === "string") return { kind: "prompt", prompt: result };
	if ("status" in result) return { kind: "done", status: result.status };
	return { kind: "prompt", prompt: result.prompt, ...(result.attachments ? { attachments: result.attachments } : {}) };
}

function fromHook(result: CommandLineResult): CommandLineResult {
	return result.kind === "prompt" ? { ...result, fromHook: true } : result;
}

/** The dialogs of a mode for one built-in command: an abort of the command closes them, and later answers do not count. */
function commandDialogs(ui: SessionUI, signal: AbortSignal): CommandUI {
	const bound = <D extends DialogOptions>(dialog: D | undefined) => ({
		...dialog,
		signal: dialog?.signal ? AbortSignal.any([dialog.signal, signal]) : signal,
	});
	return {
		canType: ui.canType ?? true,
		select: (title: string, options: readonly never[], dialog?: ChoiceOptions) =>
			ui.select(title, options, bound(dialog)),
		...(ui.selectMany && {
			selectMany: (title: string, options: readonly unknown[], dialog?: SelectManyOptions) =>
				ui.selectMany?.(title, options, { multiple: true, ...bound(dialog) }) ?? Promise.resolve(null),
		}),
		confirm: (title, message, dialog) => ui.confirm(title, message, bound(dialog)),
		input: (title, placeholder, dialog) => ui.input(title, placeholder, bound(dialog)),
		notify: (message, type) => ui.notify(message, type),
	};
}
