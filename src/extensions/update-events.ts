import type { HookEventContext, HookEvents } from "../hooks/types.js";
import type { Extension } from "./extension.js";

/** Emits each change of a reply. An error ends the calls: pi does not call the extension again in this run. */
export async function updateMessage(
	{ handlers, seen }: Extension,
	{ message, changes }: HookEvents["message_update"],
	ctx: HookEventContext,
): Promise<void> {
	for (const { type, ...fields } of changes) {
		if (type === "start") {
			seen.isReplyStarted = true;
			await handlers.emit("message_start", ctx, () => ({ type: "message_start", message }));
			continue;
		}
		const assistantMessageEvent = { type, ...fields, partial: message };
		await handlers.gate(
			"message_update",
			ctx,
			() => ({ type: "message_update", message, assistantMessageEvent }),
			() => {},
		);
	}
}

/** Emits a partial result of a tool, like `updateMessage`. */
export async function updateToolCall(
	{ handlers }: Extension,
	{ toolCallId, toolName, input, content, details }: HookEvents["tool_update"],
	ctx: HookEventContext,
): Promise<void> {
	const type = "tool_execution_update";
	const partialResult = { content, details };
	await handlers.gate(
		type,
		ctx,
		() => ({ type, toolCallId, toolName, args: input, partialResult }),
		() => {},
	);
}
