import type { ToolCall } from "@mariozechner/pi-ai";
import { type Task, tasksIn } from "../../features/tasks.js";
import { isCompactionEntry, isMessageEntry, type MessageEntry } from "../../log/entry.js";
import type { AgentSession } from "../../sdk/agent-session.js";
import { textBlock } from "./acp-tool-calls.js";
import type { ReplayedResult } from "./call-updates.js";
import type { ClientSupport, SessionUpdates } from "./session-updates.js";

/** Sends the entries of a session as updates: messages, tool calls with their results, and the last task list. */
export function replayHistory(
	{ log, isRunning }: Pick<AgentSession, "log" | "isRunning">,
	updates: SessionUpdates,
	support: ClientSupport,
): void {
	let tasks: readonly Task[] | null = null;
	/** Calls whose result has not been read. */
	const open = new Map<string, ToolCall>();
	const replay = (call: ToolCall, result: ReplayedResult | "running" | null) => {
		open.delete(call.id);
		updates.calls.replay(call.id, call.name, call.arguments, result);
	};
	const closeAll = () => {
		for (const call of [...open.values()]) replay(call, null);
	};
	for (let index = 1; index < log.length; index++) {
		const entry = log.peek(index);
		if (isCompactionEntry(entry) && support.compaction) {
			updates.send({
				...{ sessionUpdate: "compaction_update", compactionId: `entry-${index}`, status: "completed" },
				summary: [textBlock(entry.summary)],
			});
		}
		if (!isMessageEntry(entry) || entry.retried) continue;
		const { message } = entry;
		if (message.role === "toolResult") {
			const call = open.get(message.toolCallId);
			if (call) replay(call, message);
			tasks = tasksIn(message) ?? tasks;
			continue;
		}
		closeAll();
		sendMessage(entry, index, updates);
		if (message.role !== "assistant") continue;
		for (const block of message.content) if (block.type === "toolCall") open.set(block.id, block);
	}
	// The run goes on, and so do the calls of its last reply.
	for (const call of [...open.values()]) replay(call, isRunning ? "running" : null);
	if (tasks) updates.sendPlan(tasks);
}

function sendMessage({ message, typed }: MessageEntry, index: number, updates: SessionUpdates): void {
	const messageId = `entry-${index}`;
	switch (message.role) {
		case "user":
			updates.sendUserMessage(typed === undefined ? message : { ...message, content: typed }, messageId);
			return;
		case "assistant":
			for (const block of message.content) {
				const text = block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : "";
				const sessionUpdate = block.type === "thinking" ? "agent_thought_chunk" : "agent_message_chunk";
				if (text !== "") updates.send({ sessionUpdate, content: textBlock(text), messageId });
			}
			return;
		case "bashExecution": {
			const { command, output, exitCode } = message;
			const content: ReplayedResult["content"] = [{ type: "text", text: output }];
			updates.calls.replay(messageId, "bash", { command }, { content, isError: exitCode !== 0, details: { exitCode } });
			return;
		}
	}
}
