import { describe, expect, onTestFinished, test, vi } from "vitest";
import { EventSender } from "../../../src/modes/rpc/event-sender.js";
import type { RpcEvent } from "../../../src/modes/rpc/protocol.js";
import { LineWriter } from "../../../src/modes/rpc/rpc-lines.js";
import type { AgentSessionEvent } from "../../../src/session/events.js";
import { assistantMessage } from "../../helpers/entries.js";

function createSender() {
	const lines: RpcEvent[] = [];
	let held: Promise<void> | undefined;
	const writer = new LineWriter({
		out: async (text) => {
			lines.push(JSON.parse(text));
			await held;
		},
	});
	const hold = () => {
		let release = () => {};
		held = new Promise((resolve) => {
			release = resolve;
		});
		return () => {
			held = undefined;
			release();
		};
	};
	return { sender: new EventSender(writer), writer, lines, hold };
}

/** A message that grows by one delta each time. */
function streaming(type: "text_delta" | "thinking_delta" = "text_delta") {
	const message = assistantMessage("");
	let content = "";
	return (delta: string, contentIndex = 0): AgentSessionEvent => {
		content += delta;
		message.content = [{ type: "text", text: content }];
		return { type: "message_update", message, assistantMessageEvent: { type, contentIndex, delta, partial: message } };
	};
}

const updates = (lines: readonly RpcEvent[]) =>
	lines.flatMap((line) => {
		if (line.type !== "message_update") return [];
		const { assistantMessageEvent } = line;
		return [{ ...line, delta: "delta" in assistantMessageEvent ? assistantMessageEvent.delta : null }];
	});

describe("updates of a message", () => {
	test("have none of the fields in which the library collects a reply", async () => {
		const { sender, writer, lines } = createSender();
		const message = assistantMessage("");
		const call = { type: "toolCall", id: "1", name: "ls", arguments: {}, index: 1, partialJson: "{" } as const;
		message.content = [Object.assign({ type: "text", text: "Hi" } as const, { index: 0 }), call];
		sender.send({
			type: "message_update",
			message,
			assistantMessageEvent: { type: "text_start", contentIndex: 0, partial: message },
		});
		await writer.drained();
		expect(lines[0]).toMatchObject({
			message: {
				content: [
					{ type: "text", text: "Hi" },
					{ type: "toolCall", id: "1", name: "ls", arguments: {} },
				],
			},
		});
		expect(JSON.stringify(lines)).not.toMatch(/"index"|partialJson/);
	});

	test("are throttled without losing a delta, and the last one contains the complete message", async () => {
		const { sender, writer, lines } = createSender();
		const grow = streaming();
		const words = Array.from({ length: 1000 }, (_, index) => `${index} `);
		for (const word of words) sender.send(grow(word));
		const message = assistantMessage(words.join(""));
		sender.send({ type: "message_end", message, entryIndex: 2 });
		await writer.drained();
		expect(updates(lines).length).toBeLessThan(20);
		expect(
			updates(lines)
				.map(({ delta }) => delta)
				.join(""),
		).toBe(words.join(""));
		expect(updates(lines).at(-1)).toMatchObject({ message: { content: message.content } });
		expect(lines.at(-1)).toMatchObject({ type: "message_end", entryIndex: 2 });
		expect(JSON.stringify(lines)).not.toContain('"partial"');
	});

	test("are sent after the interval even without a further event", async () => {
		const { sender, lines } = createSender();
		const grow = streaming();
		sender.send(grow("a"));
		sender.send(grow("b"));
		await vi.waitFor(() => expect(updates(lines).map(({ delta }) => delta)).toEqual(["a", "b"]), 10_000);
	});

	test("of different blocks are not joined", async () => {
		const { sender, writer, lines } = createSender();
		const [say, think] = [streaming(), streaming("thinking_delta")];
		for (const event of [say("a"), think("b"), think("c"), say("d", 1), say("e", 2)]) sender.send(event);
		sender.send({ type: "queue_changed", queue: { steering: [], followUps: [] } });
		await writer.drained();
		expect(updates(lines).map(({ delta }) => delta)).toEqual(["a", "bc", "d", "e"]);
	});

	test("are joined while the reader is behind", async () => {
		vi.useFakeTimers();
		onTestFinished(() => void vi.useRealTimers());
		const { sender, lines, hold } = createSender();
		const grow = streaming();
		const release = hold();
		for (const word of ["a", "b", "c"]) sender.send(grow(word));
		await vi.advanceTimersByTimeAsync(10_000);
		sender.send(grow("d"));
		await vi.advanceTimersByTimeAsync(10_000);
		expect(updates(lines).map(({ delta }) => delta)).toEqual(["a"]);
		release();
		await vi.advanceTimersByTimeAsync(1000);
		expect(updates(lines).map(({ delta }) => delta)).toEqual(["a", "bcd"]);
	});
});

test("only the latest update of a tool is sent, and none after its end", async () => {
	const { sender, writer, lines } = createSender();
	const call = { toolCallId: "1", toolName: "bash", args: {} };
	for (let n = 0; n < 50; n++) {
		sender.send({
			type: "tool_execution_update",
			...call,
			partialResult: { content: [{ type: "text", text: `${n}` }] },
		});
	}
	const { toolCallId, toolName } = call;
	sender.send({ type: "tool_execution_end", toolCallId, toolName, result: { content: [] }, isError: false });
	await writer.drained();
	expect(lines.map(({ type }) => type)).toEqual(["tool_execution_update", "tool_execution_end"]);
});

test("an event that JSON cannot represent is reported, and later events are sent", async () => {
	const { sender, writer, lines } = createSender();
	const result = { content: [], details: { big: 1n } };
	sender.send({ type: "tool_execution_end", toolCallId: "1", toolName: "x", result, isError: false });
	sender.send({ type: "model_changed" });
	await writer.drained();
	expect(lines).toEqual([
		{ type: "notice", level: "error", message: expect.stringContaining("Cannot send tool_execution_end as JSON") },
		{ type: "model_changed" },
	]);
});

test("updates of a shell command have its output as plain text", async () => {
	const { sender, writer, lines } = createSender();
	sender.send({ type: "bash_update", output: "red", styled: "\x1b[31mred\x1b[0m" });
	await writer.drained();
	expect(lines).toEqual([{ type: "bash_update", output: "red" }]);
});
