/**
 * Replaces pi's footer with one line: git branch, what the model writes or the tool prints, name and cost of the session, size
 * of the context, requests left before the provider's rate limit, model and thinking level. Copy it and change `draw` to show
 * something else.
 *
 * The line is updated by events, never by a timer. The rate limit appears only for providers that report one in their response
 * headers, and the cost only for models with a known price. Where pi has no footer, the line is a status, without progress: an
 * RPC client receives it, plain mode prints it when it has changed, and print and JSON mode show nothing.
 */
import { type HookAPI, type HookEventContext, isMessageEntry } from "@mariozechner/pi-coding-agent/hooks";
import { truncateToWidth } from "@mariozechner/pi-tui";

const SESSION_CHANGES = ["start", "switch", "clear", "branch"];

/** Headers with the number of requests left, and with the limit. */
const RATE_LIMITS = [
	["anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-limit"],
	["x-ratelimit-remaining-requests", "x-ratelimit-limit-requests"],
	["x-ratelimit-remaining", "x-ratelimit-limit"],
] as const;

export default function statusLine(pi: HookAPI): void {
	let branch = "";
	let left: string | null = null;
	/** Progress of the running turn. */
	let progress: string | null = null;
	let line = "";
	/** Draws the footer again; without a footer, does nothing. */
	let redraw = () => {};

	const draw = (ctx: HookEventContext): void => {
		const { theme } = ctx.ui;
		const { percent } = ctx.usage;
		const cost = costOf(ctx);
		const model = ctx.model ? `${ctx.model.id}${ctx.model.reasoning ? ` ${ctx.thinkingLevel}` : ""}` : "no model";
		const parts = [
			branch === "" ? null : theme.accent(branch),
			progress,
			ctx.sessionName,
			cost > 0 ? `$${cost.toFixed(2)}` : null,
			percent === null ? null : `context ${Math.round(percent)} %`,
			left,
			model,
		];
		line = parts.filter((part) => part !== null).join(theme.dim(" · "));
		if (ctx.mode === "interactive") redraw();
		else ctx.ui.setStatus("line", line);
	};

	const showProgress = (ctx: HookEventContext, text: string): void => {
		if (ctx.mode !== "interactive") return;
		progress = text;
		draw(ctx);
	};

	const readBranch = async (ctx: HookEventContext): Promise<void> => {
		// Empty for a detached HEAD; fails outside of a repository.
		const { code, stdout } = await ctx.exec("git", ["branch", "--show-current"], { signal: ctx.signal, onHost: true });
		branch = code === 0 ? stdout.trim() : "";
	};

	pi.on("session", async (event, ctx) => {
		if (!SESSION_CHANGES.includes(event.reason)) return;
		if (event.reason === "start") {
			ctx.ui.setFooter((tui) => {
				redraw = () => tui.requestRender();
				return { render: (width) => [truncateToWidth(line, width, "…")], invalidate() {} };
			});
		}
		await readBranch(ctx);
		draw(ctx);
	});

	pi.on("message_update", ({ message }, ctx) => {
		const texts = message.content.map((block) => (block.type === "text" ? block.text : ""));
		showProgress(ctx, `${texts.join(" ").match(/\S+/g)?.length ?? 0} words`);
	});

	pi.on("tool_update", ({ toolName, content }, ctx) => {
		const texts = content.map((block) => (block.type === "text" ? block.text : ""));
		showProgress(ctx, `${toolName}: ${texts.join("").trimEnd().split("\n").length} lines`);
	});

	pi.on("turn_end", async (_, ctx) => {
		progress = null;
		await readBranch(ctx);
		draw(ctx);
	});

	pi.on("response", ({ status, headers }, ctx) => {
		left = status === 429 ? ctx.ui.theme.warning("rate limited") : requestsLeft(headers);
		draw(ctx);
	});

	pi.on("model_changed", (event, ctx) => {
		// Another provider has other limits.
		if (event.model?.provider !== event.previousModel?.provider) left = null;
		draw(ctx);
	});
	pi.on("thinking_level_changed", (_, ctx) => draw(ctx));
	pi.on("session_named", (_, ctx) => draw(ctx));
}

/** USD of all replies in this session. */
function costOf({ entries }: HookEventContext): number {
	return entries
		.filter(isMessageEntry)
		.reduce((sum, { message }) => sum + (message.role === "assistant" ? message.usage.cost.total : 0), 0);
}

/** "58/60 requests left"; null if the headers do not say. */
function requestsLeft(headers: Readonly<Record<string, string>>): string | null {
	const found = RATE_LIMITS.find(([remaining]) => headers[remaining] !== undefined);
	if (!found) return null;
	const [remaining, limit] = found.map((name) => headers[name]);
	return `${remaining}${limit === undefined ? "" : `/${limit}`} requests left`;
}
