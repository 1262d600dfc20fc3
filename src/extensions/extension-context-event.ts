import { isDeepStrictEqual } from "node:util";
import type {
	AppMessage,
	ContextEvent,
	ContextEventResult,
	ContextMessage,
	PromptSection,
	SessionEntry,
} from "../hooks/index.js";
import type { HookEventContext } from "../hooks/types.js";
import { isRecord } from "../util/is-record.js";
import { addCustomMessages, type CustomMessage, type ExtensionMessage, toUserMessage } from "./custom-messages.js";
import type { Handlers } from "./handlers.js";
import { CUSTOM, CUSTOM_MESSAGE } from "./viewed-entries.js";

/** `customType` of the entries that hold how an extension changed the system prompt, so that every request can be recomputed. */
const SYSTEM_PROMPT = "pi:system-prompt";

/** How an extension changes the system prompt: text around it, or text instead of it. */
export type PromptChange = { before: string; after: string } | { all: string };

/** The change that makes `changed` of a system prompt. */
export function promptChange(base: string, changed: string): PromptChange {
	const at = base === "" ? -1 : changed.indexOf(base);
	if (at < 0) return { all: changed };
	return { before: changed.slice(0, at), after: changed.slice(at + base.length) };
}

/** The entry that records a change; null: the system prompt is that of pi again. */
export function promptEntry(extension: string, change: PromptChange | null) {
	return { type: CUSTOM, customType: SYSTEM_PROMPT, extension, data: change };
}

/** The last change that an extension has recorded; null for none. */
export function currentChange(entries: readonly SessionEntry[], extension: string): PromptChange | null {
	const entry = entries.findLast(
		(candidate) =>
			candidate.type === CUSTOM &&
			"customType" in candidate &&
			candidate.customType === SYSTEM_PROMPT &&
			candidate.extension === extension,
	);
	const data: unknown = entry && "data" in entry ? entry.data : null;
	if (!isRecord(data)) return null;
	const text = (value: unknown) => (typeof value === "string" ? value : "");
	return "all" in data ? { all: text(data.all) } : { before: text(data.before), after: text(data.after) };
}

/** The text of a list of sections, as the model gets it. */
export function promptText(sections: readonly PromptSection[]): string {
	return sections.map(({ text }) => text).join("\n\n");
}

/** Whether a section is that of a change of this extension. */
export function isOwnSection({ id }: PromptSection, extension: string): boolean {
	return id.startsWith(`${extension}:system-prompt`);
}

function changeSections(sections: readonly PromptSection[], change: PromptChange, extension: string): PromptSection[] {
	const own = (name: string, text: string) =>
		text.trim() === "" ? [] : [{ id: `${extension}:system-prompt${name}`, text: text.trim() }];
	if ("all" in change) return own("", change.all);
	return [...own("-before", change.before), ...sections, ...own("-after", change.after)];
}

/** Answers the `context` event of hooks: adds what the extension has recorded, then asks its `context` handlers. */
export async function answerContext(
	event: ContextEvent,
	ctx: HookEventContext,
	{ handlers, extension }: { handlers: Handlers; extension: string },
): Promise<ContextEventResult | undefined> {
	const change = currentChange(event.entries, extension);
	const sections = change ? changeSections(event.systemPrompt, change, extension) : [];
	const systemPrompt = sections.length > 0 ? { systemPrompt: sections } : {};
	const hasOwn = event.entries.some(
		(entry) => entry.type === CUSTOM_MESSAGE && "extension" in entry && entry.extension === extension,
	);
	if (!hasOwn && !handlers.has("context")) return change ? systemPrompt : undefined;
	const placed = addCustomMessages(event.messages, event.entries, extension);
	// Handlers may change messages in place; those that they leave alone keep their origin.
	const originOf = new Map<unknown, ContextMessage>();
	let messages = placed.map(({ message, entryIndex }): ExtensionMessage => {
		if (message.role === "custom") return message;
		const copy = structuredClone(message);
		originOf.set(copy, { message, entryIndex });
		return copy;
	});
	await handlers.emit(
		"context",
		ctx,
		() => ({ type: "context", messages }),
		(answer) => {
			if (Array.isArray(answer.messages)) messages = answer.messages;
		},
	);
	const returned = new Set<unknown>(messages);
	const copied = [...originOf].flatMap(([copy, origin]) => (returned.has(copy) ? [] : [origin]));
	return {
		...systemPrompt,
		messages: messages.map((message) => {
			if (isCustom(message)) return toUserMessage(message);
			const origin = originOf.get(message) ?? claimCopied(message, copied);
			if (!origin) return message;
			return isDeepStrictEqual(origin.message, message) ? origin : { message, entryIndex: origin.entryIndex };
		}),
	};
}

/** The origin of a message that a handler has copied to change it; removed from the list, because it counts once. */
function claimCopied(message: AppMessage, copied: ContextMessage[]): ContextMessage | undefined {
	const { role, timestamp }: { role?: unknown; timestamp?: unknown } = Object(message);
	const at = copied.findIndex(
		({ message: origin }) =>
			origin.role === role &&
			origin.timestamp === timestamp &&
			(origin.role !== "toolResult" || message.role !== "toolResult" || origin.toolCallId === message.toolCallId),
	);
	return at < 0 ? undefined : copied.splice(at, 1)[0];
}

function isCustom(message: ExtensionMessage): message is CustomMessage {
	return message.role === "custom";
}
