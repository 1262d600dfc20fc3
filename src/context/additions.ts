import type { AddedInstructions, AppendFacts, ToolInfo } from "../log/entry.js";
import { isIndex } from "../log/entry.js";
import type { BuiltContext, ContextProblem, TracedMessage } from "./context-message.js";
import { type EntrySource, entryTime } from "./entry-message.js";

import { type Preamble, sentTool } from "./preamble.js";
import { type AnsweringHook, applyPreambleAnswer } from "./preamble-answer.js";
import type { TraceFault } from "./trace.js";

/** Something that a hook adds in the middle of the conversation. */
export interface Addition {
	/** Index of the entry after whose message it comes. */
	after: number;
	/** Empty for tools alone. */
	instructions: string;
	tools: readonly ToolInfo[];
	by: AnsweringHook;
}

/** Additions in their places, and a system prompt and tools that fit them. */
export interface PlacedAdditions {
	messages: readonly TracedMessage[];
	preamble: Preamble;
}

/**
 * Reads the field `append` of an answer.
 * @param tools those of the session
 * @param length number of entries
 * @throws errors of accessors in the answer
 */
export function readAdditions(
	value: unknown,
	{ tools, length, by }: { tools: readonly ToolInfo[]; length: number; by: AnsweringHook },
): Addition[] | TraceFault {
	if (!Array.isArray(value)) return { rule: "append_is_list", position: 0 };
	const known = new Map(tools.map((tool) => [tool.name, tool]));
	const additions: Addition[] = [];
	for (const [position, item] of value.entries()) {
		const { after, instructions = "", tools: names = [], ...others } = (item ?? {}) as Record<string, unknown>;
		const [unknown] = Object.keys(others);
		if (unknown !== undefined) return { rule: "append_has_known_fields", position, detail: unknown };
		if (!isIndex(after) || after >= length) return { rule: "append_has_place", position };
		if (typeof instructions !== "string" || !Array.isArray(names) || (instructions.trim() === "" && names.length === 0))
			return { rule: "append_has_content", position };
		const added: ToolInfo[] = [];
		for (const name of names) {
			const tool = known.get(name);
			if (!tool) return { rule: "append_names_tools", position };
			added.push(tool);
		}
		additions.push({ after, instructions, tools: added, by });
	}
	return additions;
}

/**
 * Puts additions where the model learns them, if it can take them in the middle of a conversation: the request then begins like
 * the one before. Otherwise instructions become a section of the system prompt, and tools are offered from the start. Each tool is
 * offered once.
 * @param memo messages of earlier requests by their contents, which are used again
 */
export function placeAdditions(
	additions: readonly Addition[],
	before: PlacedAdditions,
	{ takes, entries, memo }: { takes: AppendFacts; entries: EntrySource; memo: Map<string, TracedMessage> },
	report: (problem: ContextProblem, handler?: object) => void,
): PlacedAdditions {
	const messages = [...before.messages];
	const placed = [...additions].sort((a, b) => a.after - b.after);
	const offered = new Set<ToolInfo>();
	let { preamble } = before;
	for (const { after, instructions, tools, by } of placed) {
		const fresh = tools.filter((tool) => !offered.has(tool));
		for (const tool of fresh) offered.add(tool);
		const kept = preamble.tools.filter((tool) => !fresh.includes(tool));
		const isText = instructions.trim() !== "";
		const answer = {
			systemPrompt: isText && !takes.instructions ? withSection(preamble, by, instructions) : undefined,
			tools: fresh.length === 0 ? undefined : [...kept, ...(takes.tools ? [] : fresh)].map(({ name }) => name),
		};
		const changed = applyPreambleAnswer(answer, preamble, by);
		if ("rule" in changed) {
			report({ hook: by.hook, ...changed }, by.handler);
			continue;
		}
		preamble = changed;
		const content = takes.instructions ? instructions : "";
		const toolsAdded = takes.tools ? fresh.map(sentTool) : [];
		if (content.trim() === "" && toolsAdded.length === 0) continue;
		const timestamp = entryTime(entries.at(after));
		const message: AddedInstructions = {
			...{ role: "system", content, timestamp },
			...(toolsAdded.length > 0 && { toolsAdded }),
		};
		const key = JSON.stringify([by.hook, message]);
		const traced = memo.get(key) ?? trace(message, by);
		memo.set(key, traced);
		// A frozen request has it already.
		if (!messages.some((other) => isSame(other, message))) messages.splice(placeAfter(messages, after), 0, traced);
	}
	return { messages: Object.freeze(messages), preamble };
}

function withSection({ promptSections }: Preamble, { name }: AnsweringHook, text: string) {
	const id = `${name}:appended`;
	const known = promptSections.find((section) => section.id === id);
	const others = promptSections.filter((section) => section !== known);
	return [...others, { id, text: known ? `${known.text}\n\n${text}` : text }];
}

function trace(message: AddedInstructions, { hook }: AnsweringHook): TracedMessage {
	return Object.freeze({
		message: Object.freeze(message),
		entryIndex: null,
		origin: Object.freeze({ kind: "hook", hook }),
	});
}

function isSame({ message }: TracedMessage, added: AddedInstructions): boolean {
	return message.role === "system" && JSON.stringify(message) === JSON.stringify(added);
}

/** The position after the message of an entry and the results of its calls, or of the last one before it; never the first. */
function placeAfter(messages: readonly TracedMessage[], after: number): number {
	let position = messages.findLastIndex(({ entryIndex }) => entryIndex !== null && entryIndex <= after) + 1;
	position = Math.min(Math.max(position, 1), messages.length);
	while (["toolResult", "system"].includes(messages[position]?.message.role ?? "")) position++;
	return position;
}

/** Names of the tools that the model can call in a request. */
export function offeredTools({ preamble, messages }: Pick<BuiltContext, "preamble" | "messages">): ReadonlySet<string> {
	const added = messages.flatMap(({ message }) => (message.role === "system" ? (message.toolsAdded ?? []) : []));
	return new Set([...preamble.tools, ...added].map(({ name }) => name));
}
