import { randomUUID } from "node:crypto";
import type { ToolCall } from "@mariozechner/pi-ai";
import { runToolCall } from "../../agent/tool-calls.js";
import { PiError } from "../../errors.js";
import type { HookSession } from "../../hooks/context-object.js";
import type { HookCall } from "../../hooks/hook-call.js";
import type { ToolCallResult } from "../../hooks/types.js";
import { entryTimestamp, type HookToolCallEntry, type ToolCaller } from "../../log/entry.js";
import { meantCall } from "../../tools/foreign-calls.js";
import type { AnyTool } from "../../tools/tool.js";
import { SerialQueue } from "../../util/serial-queue.js";
import type { NestedContextFiles } from "./nested-context-files.js";
import { type CallSources, callEnvironment } from "./tool-gate.js";

/** A call of a tool from which others may be made. */
interface OpenCall {
	/** The id of the outermost call. */
	root: string;
	/** The tools that run in one another, outermost first. */
	chain: readonly string[];
	/** Orders the calls that it makes. */
	queue: SerialQueue;
}

/** Runs the calls of tools that hooks make, like those of the model. Each becomes an entry when it ends. */
export class HookToolCalls {
	readonly #queue = new SerialQueue();
	/** The calls of hooks that run, by id. */
	readonly #open = new Map<string, OpenCall>();

	constructor(
		private readonly sources: CallSources,
		private readonly nestedFiles: Pick<NestedContextFiles, "note">,
	) {}

	/** Runs a tool for a hook. @throws as `HookTools.call` */
	async run(
		...[{ hook, tool: within }, given, givenArgs, signal]: Parameters<HookSession["callTool"]>
	): Promise<ToolCallResult> {
		const { state } = this.sources;
		state.log.checkWritable();
		const asked = { type: "toolCall", id: "", name: given, arguments: givenArgs as ToolCall["arguments"] } as const;
		const { name, arguments: args } = meantCall(asked, this.sources.code.tools);
		const tool = this.#find(name);
		const parent = within ? this.#openCall(within) : null;
		const outer = parent?.queue ?? this.#queue;
		const isReadOnly = tool.readOnly === true;
		const id = `hook_${randomUUID()}`;
		const chain = [...(parent?.chain ?? []), name];
		// Whoever holds the turn of an outer queue orders the calls within it itself, or they would wait for each other.
		this.#open.set(id, { root: parent?.root ?? id, chain, queue: isReadOnly ? outer : new SerialQueue() });
		const caller: ToolCaller = { hook: hook.name, ...(parent ? { toolCallId: parent.root } : {}) };
		const call: ToolCall = { type: "toolCall", id, name, arguments: args };
		const isLoop = parent?.chain.includes(name) === true;
		const refusal = isLoop ? `The tool "${name}" cannot be called from its own run: ${chain.join(" → ")}.` : null;
		const run = () => this.#call(call, tool, { caller, refusal, signal });
		try {
			return await (isReadOnly || isLoop ? run() : outer.run(run, signal));
		} finally {
			this.#open.delete(id);
		}
	}

	async #call(
		call: ToolCall,
		tool: AnyTool,
		{ caller, refusal, signal }: { caller: ToolCaller; refusal: string | null; signal: AbortSignal },
	): Promise<ToolCallResult> {
		const { state, store, activity, emit } = this.sources;
		const { generation } = state;
		const { shellPath } = store.settings.current;
		let entry: HookToolCallEntry | null = null;
		await runToolCall(
			call,
			{
				...callEnvironment(this.sources, this.nestedFiles),
				tools: [tool],
				...(shellPath ? { shellPath } : {}),
				signal,
				caller,
				emit,
				finish: ({ role: _, timestamp: __, ...result }, ended, input, files) => {
					const { hook, toolCallId: parent } = caller;
					const by = { hook, ...(parent === undefined ? {} : { parent }) };
					entry = {
						type: "hook_tool_call",
						timestamp: entryTimestamp(),
						...by,
						...result,
						input,
						...(files.length > 0 ? { files } : {}),
					};
					// A call that ignores an abort may end after the session was left.
					if (state.generation === generation) state.appendAll([entry], state.isUnused && !activity.has("command"));
					emit(ended);
				},
			},
			refusal,
		);
		return resultOf(entry as HookToolCallEntry | null);
	}

	/** @throws PiError `tool_unknown` */
	#find(name: string): AnyTool {
		const { tools, toolSwitch } = this.sources.code;
		const tool = tools.find((candidate) => candidate.name === name);
		if (tool) return tool;
		const isOff = toolSwitch.list().some((known) => known.name === name);
		throw new PiError("tool_unknown", isOff ? `The tool "${name}" is off` : `There is no tool "${name}"`, {
			hint: `the tools that are on are ${tools.map((known) => known.name).join(", ")}`,
		});
	}

	/** The call in which a hook makes another one: of a hook, or of the model. */
	#openCall({ id, name }: NonNullable<HookCall["tool"]>): OpenCall {
		return this.#open.get(id) ?? { root: id, chain: [name], queue: this.#queue };
	}
}

function resultOf(entry: HookToolCallEntry | null): ToolCallResult {
	if (!entry) throw new PiError("command_failed", "The call of the tool has no result");
	const { content, details, isError, gate } = entry;
	return Object.freeze({
		content,
		...(details === undefined ? {} : { details }),
		isError,
		...(gate?.blockedBy === undefined ? {} : { blockedBy: gate.blockedBy }),
	});
}
