import { Type } from "typebox";
import { expectTypeOf } from "vitest";
import type {
	Attachment,
	BeforeRequestEventResult,
	CommandOptions,
	ContextEventResult,
	HookAPI,
	HookEventContext,
	HookEvents,
	HookHandler,
	HookResults,
	SystemItem,
	SystemItemsHandle,
	ToolCallEventResult,
} from "../../src/hooks/index.js";
import { defineTool } from "../../src/tools/tool.js";

/** The compiler checks the return types of handlers: this file is compiled, never run. */
export function results(pi: HookAPI): void {
	pi.on("tool_call", () => ({ block: true, reason: "no" }));
	pi.on("tool_call", async () => ({ block: true }));
	pi.on("tool_call", () => undefined);
	pi.on("tool_call", () => {});
	pi.on("tool_call", async () => {});
	pi.on("turn_end", () => {});
	pi.on("turn_end", async () => undefined);
	pi.on("tool_result", ({ content }) => ({ content: [...content], isError: false }));
	pi.on("session", ({ reason }) => (reason === "before_clear" ? { cancel: true } : undefined));
	pi.on("context", ({ messages }) => ({ messages: messages.slice(1) }));
	pi.on("context", async ({ messages }) => (messages.length > 9 ? { messages: [] } : undefined));
	pi.on("before_request", () => ({ action: "continue" }));
	pi.on("before_request", ({ tokens }) => (tokens > 1 ? { action: "stop", reason: "enough" } : undefined));
	pi.on("before_request", async () => ({ action: "stop", reason: "enough" }));

	pi.on("tool_call", ({ input }) => ({ input: { ...input, timeout: 9 } }));
	pi.on("tool_call", () => ({ ask: "Really?" }));
	pi.on("prompt", ({ text }) => ({ text: `${text}!` }));
	pi.on("prompt", ({ source }) => (source === "hook" ? undefined : { handled: true }));
	pi.on("prompt", async ({ delivery }) => (delivery === "steer" ? { stop: "later" } : undefined));
	pi.on("user_bash", ({ command }) => ({ command: `nice ${command}` }));
	pi.on("user_bash", () => ({ result: { output: "far", exitCode: null } }));
	pi.on("user_bash", () => ({ block: true, reason: "no" }));
	pi.on("agent_settled", () => {});
	pi.on("response", ({ status, headers }) => void [status, headers.via]);
	pi.on("message_update", ({ message, changes }) => void [message.content.length, changes.map(({ type }) => type)]);
	pi.on("tool_update", ({ toolName, content }) => void [toolName, content.length]);

	pi.on("context", ({ messages, facts }, { cwd, signal }) => {
		if (signal.aborted || cwd === "/" || facts.estimate(messages) < facts.contextWindow) return;
		return { messages: facts.cache.warmTokens > 0 ? messages : messages.slice(facts.flags.loud ? 1 : 2) };
	});
	// @ts-expect-error the model is in event.facts
	pi.on("context", (_, { model }) => void model);
	// @ts-expect-error the answer depends on the event alone
	pi.on("context", (_, ctx) => void ctx.exec("date", []));

	// What an event carries can be part of its answer.
	pi.on("prompt", ({ text, attachments }) => ({ text: text.trim(), attachments }));
	pi.on("tool_result", ({ content }) => ({ content }));
	pi.on("context", ({ messages, systemPrompt, tools }) => ({
		messages,
		systemPrompt,
		tools: tools.map(({ name }) => name),
	}));
	pi.on("prompt", ({ attachments }) => pi.send("again", attachments));
	pi.command("again", { handler: () => ({ prompt: "again", attachments: [] as readonly Attachment[] }) });

	// @ts-expect-error only one of command, result and block
	pi.on("user_bash", () => ({ command: "ls", block: true }));
	// @ts-expect-error only one of command, result and block
	pi.on("user_bash", () => ({ command: "ls", result: { output: "" } }));
	// @ts-expect-error only one of command, result and block
	pi.on("user_bash", () => ({ result: { output: "" }, block: true, reason: "no" }));
	// @ts-expect-error a reason belongs to a block
	pi.on("user_bash", () => ({ command: "ls", reason: "no" }));
	// @ts-expect-error a prompt is refused with its reason
	pi.on("prompt", () => ({ stop: true }));
	// @ts-expect-error a result has an output
	pi.on("user_bash", () => ({ result: { exitCode: 0 } }));
	// @ts-expect-error the field is block
	pi.on("tool_call", () => ({ blocked: true }));
	// @ts-expect-error this event ignores answers
	pi.on("agent_settled", () => ({ cancel: true }));
	// @ts-expect-error a partial reply cannot be changed
	pi.on("message_update", ({ message }) => ({ message }));
	// @ts-expect-error a partial reply is frozen
	pi.on("message_update", ({ changes }) => void changes.pop());
	// @ts-expect-error a partial result cannot be changed
	pi.on("tool_update", ({ content }) => ({ content }));
	// @ts-expect-error only context handlers return messages
	pi.on("tool_call", () => ({ messages: [] }));
	// @ts-expect-error only context handlers return messages
	pi.on("tool_call", async () => ({ messages: [] }));
	// @ts-expect-error an ended turn cannot be canceled
	pi.on("turn_end", () => ({ cancel: true }));
	// @ts-expect-error this event ignores answers
	pi.on("agent_end", async () => ({ messages: [] }));
	// @ts-expect-error a context cannot be blocked
	pi.on("context", () => ({ block: true }));
	// @ts-expect-error a finished tool call cannot be blocked
	pi.on("tool_result", () => ({ block: true }));
	// @ts-expect-error content is a list of blocks
	pi.on("tool_result", () => ({ content: "text" }));
	// @ts-expect-error a request is stopped, not blocked
	pi.on("before_request", () => ({ block: true }));
	// @ts-expect-error before_request cannot add messages
	pi.on("before_request", () => ({ messages: [] }));
	// @ts-expect-error there are two actions
	pi.on("before_request", () => ({ action: "pause" }));
	// @ts-expect-error a stop needs a reason
	pi.on("before_request", () => ({ action: "stop" }));
	// @ts-expect-error unknown event
	pi.on("before_tool", () => {});
}

/** An answer has no other fields, whatever a handler is. */
export function exactResults(pi: HookAPI): void {
	// @ts-expect-error the field is messages
	pi.on("context", () => ({ mesages: [] }));
	// @ts-expect-error the field is messages
	pi.on("context", async () => ({ mesages: [] }));
	// @ts-expect-error the field is systemPrompt
	pi.on("context", ({ messages }) => ({ messages, sytemPrompt: [] }));
	// @ts-expect-error the field is systemPrompt, in one of the returns
	pi.on("context", ({ messages }) => {
		if (messages.length > 3) return;
		if (messages.length > 2) return { messages };
		return { messages, sytemPrompt: [] };
	});
	// @ts-expect-error the field is systemPrompt, in one of the returns
	pi.on("context", async ({ messages }) => {
		if (messages.length > 3) return undefined;
		return messages.length > 2 ? { messages } : { messages, sytemPrompt: [] };
	});
	// @ts-expect-error the field is systemPrompt
	pi.on("context", async ({ messages }) => ({ messages, sytemPrompt: [] }));
	const declared = async ({ messages }: HookEvents["context"]) => ({ messages, sytemPrompt: [] });
	// @ts-expect-error the field is systemPrompt
	pi.on("context", declared);
	// @ts-expect-error the field is reason
	pi.on("tool_call", () => ({ block: true, raeson: "no" }));
	// @ts-expect-error the field is cancel
	pi.on("session", async () => ({ cancel: true, canceled: true }));
	// @ts-expect-error the field is attachments
	pi.on("prompt", ({ text }) => ({ text, attachement: [] }));
	// @ts-expect-error the field is reason
	pi.on("before_request", async () => ({ action: "stop", reason: "no", resaon: "no" }));
	// @ts-expect-error the field is payload
	pi.on("payload", ({ payload }) => ({ payload, body: payload }));
	// @ts-expect-error the field is isError
	pi.on("tool_result", async ({ content }) => ({ content, error: true }));
	// @ts-expect-error a command has no directory
	pi.on("user_bash", ({ command }) => ({ command, cwd: "/" }));
	// @ts-expect-error the field is status
	pi.command("a", { handler: () => ({ status: "done", state: "done" }) });
	// @ts-expect-error the field is attachments
	pi.command("a", { handler: async ({ argsRaw }) => ({ prompt: argsRaw, atachments: [] }) });
	// @ts-expect-error the field is attachments, in one of the returns
	pi.command("a", {
		async handler({ argsRaw }) {
			if (argsRaw === "") return "nothing";
			return { prompt: argsRaw, atachments: [] };
		},
	});
	// @ts-expect-error the field is status
	pi.shortcut("f5", { handler: () => ({ status: "done", state: "done" }) });

	// Literals keep their types in async handlers and in all returns; values of declared types are accepted.
	pi.on("tool_result", async ({ content }) => {
		if (content.length > 1) return { content: [...content, { type: "text", text: "more" }] };
	});
	pi.on("user_bash", async ({ command, excluded }) => {
		if (excluded) return { block: true, reason: "no" };
		return command === "t" ? { command: "npm test" } : undefined;
	});
	pi.on("session", async ({ reason }) => {
		if (reason === "before_clear") return { cancel: true };
		const type = "compaction" as const;
		return { compactionEntry: { type, timestamp: "", summary: "", firstKeptEntryIndex: 1, tokensBefore: 1 } };
	});
	pi.on("tool_call", ({ toolName, input }) => {
		if (toolName !== "bash") return;
		if (input.command === "sudo") return { block: true, reason: "no" };
		if (input.command === "npm publish") return { ask: "Publish?" };
		return { input: { ...input, timeout: 9 } };
	});
	pi.on("prompt", ({ text, source }) => {
		if (source === "hook") return;
		if (text === "key") return { stop: "no" };
		return text === "ping" ? { handled: true } : { text };
	});
	pi.command("a", { handler: ({ args }) => (args.length > 1 ? { status: "done" } : { prompt: "go" }) });
	pi.on("tool_call", (): ToolCallEventResult => ({ block: true }));
	pi.on("context", (() => undefined) as HookHandler<"context">);
	pi.on("context", async () => {
		throw new Error("no answer");
	});
	pi.command("a", {
		complete: (prefix) => [{ value: prefix }],
		async handler({ argsRaw }) {
			if (argsRaw === "") return;
			if (argsRaw === "help") return "no help";
			return argsRaw === "now" ? { prompt: argsRaw, attachments: [] } : { status: argsRaw };
		},
	});
	const options: CommandOptions = { handler: () => ({ status: "done" }) };
	pi.command("a", options);
}

export function eachEventHasItsOwnResult(): void {
	expectTypeOf<HookResults["before_request"]>().toEqualTypeOf<BeforeRequestEventResult | undefined | void>();
	expectTypeOf<HookResults["tool_call"]>().toEqualTypeOf<ToolCallEventResult | undefined | void>();
	expectTypeOf<HookResults["turn_end"]>().toEqualTypeOf<undefined | void>();

	type WithMessages = {
		[N in keyof HookResults]: Extract<HookResults[N], { messages?: unknown }> extends never ? never : N;
	}[keyof HookResults];
	expectTypeOf<WithMessages>().toEqualTypeOf<"context">();
	expectTypeOf<Extract<HookResults["context"], object>>().toEqualTypeOf<ContextEventResult>();
}

export function handles(pi: HookAPI, ctx: HookEventContext): void {
	pi.requires("systemItems");
	ctx.systemItems?.append({ kind: "task_reminder", text: "x" });
	ctx.systemItems?.append({ kind: "notification", text: "x" });
	expectTypeOf(ctx.systemItems).toEqualTypeOf<SystemItemsHandle | undefined>();
	expectTypeOf<keyof SystemItemsHandle>().toEqualTypeOf<"append">();
	expectTypeOf<SystemItem["kind"]>().toEqualTypeOf<"task_reminder" | "notification">();

	// @ts-expect-error unknown handle
	pi.requires("entries");
	// @ts-expect-error the handle is undefined without a grant
	ctx.systemItems.append({ kind: "notification", text: "x" });
	// @ts-expect-error the kinds are a closed set
	ctx.systemItems?.append({ kind: "message", text: "x" });
	// @ts-expect-error an item is text, not a message
	ctx.systemItems?.append({ kind: "notification", message: { role: "user", content: "x", timestamp: 0 } });
	// @ts-expect-error an object with the same members is not a handle
	const forged: SystemItemsHandle = { append() {} };
	void forged;
}

/** The renderer of entries always receives its options. */
export function entries(pi: HookAPI): void {
	pi.entry("long", { render: (entry, theme, { expanded }) => theme.dim(`${entry.type} ${expanded === true}`) });
	pi.entry("short", { render: (entry) => entry.type });
}

/** Arguments and details of tools have the types of their schemas and results. */
export function tools(pi: HookAPI): void {
	pi.tool({
		name: "note",
		description: "d",
		parameters: Type.Object({ text: Type.String() }),
		async run({ text }, { ctx, onUpdate }) {
			onUpdate({ content: [], details: { count: 0 } });
			const upper: string = text.toUpperCase() + ctx.cwd;
			return { content: [{ type: "text", text: upper }], details: { count: 1 } };
		},
		renderCall: ({ text = "" }, theme) => theme.bold(text.trim()),
		renderResult: ({ details }, theme, { expanded }) => theme.dim(`${details?.count.toFixed(0)} ${expanded}`),
	});
	pi.tool({
		name: "other",
		description: "d",
		parameters: Type.Object({ count: Type.Number() }),
		execute: async (id, { count }, signal, _onUpdate, ctx) => ({
			content: [{ type: "text", text: `${id.trim()} ${count.toFixed(1)} ${signal.aborted} ${ctx.hasUI}` }],
		}),
	});
	pi.tool({
		name: "plain",
		description: "d",
		parameters: { type: "object", properties: {} },
		run: async () => ({ content: [] }),
	});
	pi.tool({
		name: "sync",
		description: "d",
		parameters: Type.Object({ text: Type.String() }),
		run: ({ text }) => ({ content: [{ type: "text", text }], details: { size: text.length } }),
		renderResult: ({ details }) => `${details?.size.toFixed(0)}`,
	});
	pi.tool({
		name: "sync",
		description: "d",
		parameters: Type.Object({ text: Type.String() }),
		execute: (_id, { text }) => ({ content: [{ type: "text", text }] }),
	});
	defineTool({
		name: "sync",
		description: "d",
		parameters: Type.Object({ text: Type.String() }),
		run: ({ text }) => ({ content: [{ type: "text", text }] }),
	});
	// @ts-expect-error a result has content
	pi.tool({ name: "none", description: "d", parameters: Type.Object({}), run: () => ({ text: "x" }) });
	// @ts-expect-error a tool needs a function
	pi.tool({ name: "none", description: "d", parameters: Type.Object({}) });
	// @ts-expect-error a result has content
	pi.tool({ name: "none", description: "d", parameters: Type.Object({}), run: async () => ({ text: "x" }) });
}
