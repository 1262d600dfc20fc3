import { bashExecutionText } from "../context/bash-execution-text.js";
import { readRecordedPreamble } from "../context/recorded-preamble.js";
import { isSessionHeader, type ToolInfo } from "../log/entry.js";
import { packageVersion } from "../util/package-root.js";
import { type ConversationPart, contentText, conversationParts } from "./conversation-parts.js";
import { type ExportSource, readEntry } from "./survey.js";

type Json = Readonly<Record<string, unknown>>;
type Reply = Extract<ConversationPart, { kind: "reply" }>;

/** Sums over the steps of a trajectory. */
interface Totals {
	total_prompt_tokens: number;
	total_completion_tokens: number;
	total_cached_tokens: number;
	total_cost_usd: number;
}

/**
 * Writes a session as a trajectory in the Agent Trajectory Interchange Format, version 1.5: one step for each prompt, reply with the
 * results of its calls, system prompt that differs from the one before, summary, and note of a hook. Images are named, not included.
 * The format: https://harborframework.com/docs/trajectory-format
 */
export function* atifText(entries: ExportSource, title: string): Generator<string> {
	const header = readEntry(entries, 0);
	const origin = isSessionHeader(header) ? header : null;
	const totals: Totals = {
		total_prompt_tokens: 0,
		total_completion_tokens: 0,
		total_cached_tokens: 0,
		total_cost_usd: 0,
	};
	const prompts = new SystemPrompts(entries);
	let model: string | undefined;
	let steps = 0;
	const head = { schema_version: "ATIF-v1.5", session_id: origin?.id ?? title };
	yield `${JSON.stringify(head).slice(0, -1)},"steps":[`;
	const step = (content: Json) => `${steps++ === 0 ? "" : ","}\n${JSON.stringify({ step_id: steps, ...content })}`;
	for (const part of conversationParts(entries)) {
		if (part.kind === "reply") {
			const system = prompts.next(part);
			if (system !== null) yield step({ timestamp: part.time, source: "system", message: system });
			model = modelOf(part);
		}
		yield step({ timestamp: part.time, ...stepOf(part, totals) });
	}
	// A trajectory has at least one step.
	if (steps === 0) yield step({ source: "system", message: "" });
	const { tools } = prompts;
	const tail = {
		agent: {
			...{ name: "pi", version: packageVersion(), ...(model !== undefined && { model_name: model }) },
			...(tools.length > 0 && { tool_definitions: tools.map(definitionOf) }),
		},
		final_metrics: { ...totals, total_steps: steps },
		extra: { title, ...(origin && { cwd: origin.cwd, started_at: origin.timestamp }) },
	};
	yield `\n],${JSON.stringify(tail).slice(1)}\n`;
}

/** Finds the requests whose system prompt differs from the one before, and the last tools. */
class SystemPrompts {
	tools: readonly ToolInfo[] = [];
	#digest: string | undefined;
	#text: string | null = null;

	constructor(private readonly entries: ExportSource) {}

	/** @returns the system prompt of the request of a reply; null if it is that of the request before, or not recorded */
	next({ index, context }: Reply): string | null {
		const digest = context && `${context.system} ${context.tools}`;
		if (digest === undefined || digest === this.#digest) return null;
		this.#digest = digest;
		const sent = readRecordedPreamble(this.entries, index)?.sent;
		if (!sent) return null;
		this.tools = sent.tools;
		const text = sent.sections.map((section) => section.text).join("\n\n");
		if (text === this.#text) return null;
		this.#text = text;
		return text;
	}
}

function stepOf(part: ConversationPart, totals: Totals): Json {
	switch (part.kind) {
		case "prompt":
			return { source: "user", message: contentText(part.message.content) };
		case "shell":
			return { source: "user", message: bashExecutionText(part.message) };
		case "summary":
			return {
				...{ source: "system", message: part.text },
				extra: { kind: "compaction", tokens_before: part.tokensBefore, ...(part.undone && { undone: true }) },
			};
		case "note":
			return { source: "system", message: part.text, extra: { kind: "note", source: part.source } };
		case "reply":
			return replyStep(part, totals);
	}
}

function replyStep(reply: Reply, totals: Totals): Json {
	const { message, results } = reply;
	const textsOf = (type: "text" | "thinking") =>
		message.content.flatMap((block) => {
			if (block.type !== type) return [];
			return block.type === "text" ? [block.text] : block.type === "thinking" ? [block.thinking] : [];
		});
	const thinking = textsOf("thinking").join("\n\n").trim();
	const toolCalls = message.content.flatMap((block) =>
		block.type === "toolCall"
			? [{ tool_call_id: block.id, function_name: block.name, arguments: block.arguments }]
			: [],
	);
	const failed = results.filter(({ isError }) => isError).map(({ toolCallId }) => toolCallId);
	const extra = {
		...(failed.length > 0 && { failed_calls: failed }),
		...((message.stopReason === "aborted" || message.stopReason === "error" || message.stopReason === "length") && {
			stop_reason: message.stopReason,
		}),
		...(message.errorMessage !== undefined && { error: message.errorMessage }),
	};
	return {
		...{ source: "agent", model_name: modelOf(reply), message: textsOf("text").join("\n\n") },
		...(thinking !== "" && { reasoning_content: thinking }),
		...(toolCalls.length > 0 && { tool_calls: toolCalls }),
		...(results.length > 0 && {
			observation: {
				results: results.map(({ toolCallId, content }) => ({
					source_call_id: toolCallId,
					content: contentText(content),
				})),
			},
		}),
		metrics: metricsOf(reply, totals),
		...(Object.keys(extra).length > 0 && { extra }),
	};
}

/** Prompt tokens include those that were read from and written to the cache. A subscription's request has no cost. */
function metricsOf({ message: { usage }, context }: Reply, totals: Totals): Json {
	const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
	const cost = context?.subscription ? null : Math.max(0, usage.cost.total);
	totals.total_prompt_tokens += prompt;
	totals.total_completion_tokens += usage.output;
	totals.total_cached_tokens += usage.cacheRead;
	totals.total_cost_usd += cost ?? 0;
	return {
		...{ prompt_tokens: prompt, completion_tokens: usage.output, cached_tokens: usage.cacheRead },
		...(cost !== null && { cost_usd: cost }),
		...(usage.cacheWrite > 0 && { extra: { cache_write_tokens: usage.cacheWrite } }),
	};
}

function modelOf({ message }: Reply): string {
	return `${message.provider}/${message.model}`;
}

/** As in the requests of chat completions. */
function definitionOf({ name, description, parameters }: ToolInfo): Json {
	return { type: "function", function: { name, description, parameters } };
}
