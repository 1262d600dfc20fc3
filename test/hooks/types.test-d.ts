import { expectTypeOf } from "vitest";
import type {
	BeforeRequestEventResult,
	ContextEventResult,
	HookAPI,
	HookEventContext,
	HookResults,
	SystemItem,
	SystemItemsHandle,
	ToolCallEventResult,
} from "../../src/hooks/index.js";

/** What handlers may return is checked by the compiler: this file is compiled, never run. */
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

	// @ts-expect-error only context handlers answer with messages
	pi.on("tool_call", () => ({ messages: [] }));
	// @ts-expect-error only context handlers answer with messages
	pi.on("tool_call", async () => ({ messages: [] }));
	// @ts-expect-error a turn that has ended cannot be cancelled
	pi.on("turn_end", () => ({ cancel: true }));
	// @ts-expect-error nothing is read of this answer
	pi.on("agent_end", async () => ({ messages: [] }));
	// @ts-expect-error a context cannot be blocked
	pi.on("context", () => ({ block: true }));
	// @ts-expect-error a tool that has run cannot be blocked
	pi.on("tool_result", () => ({ block: true }));
	// @ts-expect-error content is a list of blocks
	pi.on("tool_result", () => ({ content: "text" }));
	// @ts-expect-error a request is stopped, not blocked
	pi.on("before_request", () => ({ block: true }));
	// @ts-expect-error nothing is added to a request that is on its way
	pi.on("before_request", () => ({ messages: [] }));
	// @ts-expect-error there are two actions
	pi.on("before_request", () => ({ action: "pause" }));
	// @ts-expect-error who stops says why
	pi.on("before_request", () => ({ action: "stop" }));
	// @ts-expect-error there is no such event
	pi.on("before_tool", () => {});
}

export function eachEventHasItsOwnResult(): void {
	expectTypeOf<HookResults["before_request"]>().toEqualTypeOf<BeforeRequestEventResult | undefined | void>();
	expectTypeOf<HookResults["tool_call"]>().toEqualTypeOf<ToolCallEventResult | undefined | void>();
	expectTypeOf<HookResults["turn_end"]>().toEqualTypeOf<undefined | void>();

	type WithMessages = {
		[N in keyof HookResults]: Extract<HookResults[N], { messages: unknown }> extends never ? never : N;
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

	// @ts-expect-error there is no such handle
	pi.requires("entries");
	// @ts-expect-error without a grant there is no handle
	ctx.systemItems.append({ kind: "notification", text: "x" });
	// @ts-expect-error the kinds are a closed set
	ctx.systemItems?.append({ kind: "message", text: "x" });
	// @ts-expect-error an item is text, not a message
	ctx.systemItems?.append({ kind: "notification", message: { role: "user", content: "x", timestamp: 0 } });
	// @ts-expect-error a look-alike is no handle
	const forged: SystemItemsHandle = { append() {} };
	void forged;
}
