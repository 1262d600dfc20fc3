/**
 * Watches what the session costs and when the provider limits it, and offers the cheapest model that can continue the work:
 * `/cheaper` or alt+m switches to it. `pi --budget 2.50` sets the cost in USD from which it offers one; default: 5.
 *
 * `pi --service-tier flex` asks OpenAI for a tier that answers slower for less.
 *
 * A model can continue if it reads the same kinds of input, thinks if the current one does, and has room for the context. After
 * a rate limit, models of the same provider are not offered. The hook only offers: it never switches without you.
 *
 * Limits: the price is that of the model list, and 0 there can mean unknown. Cheap models make more mistakes. In print and JSON
 * mode nobody can accept the offer: it is a notice.
 */
import type { Api, Model } from "@mariozechner/pi-ai";
import {
	type CommandContext,
	type CommandResult,
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
} from "@mariozechner/pi-coding-agent/hooks";

const DEFAULT_BUDGET = 5;
/** Share of the context window that stays free for the work to come. */
const FREE = 0.25;
const REMAINING = ["anthropic-ratelimit-requests-remaining", "x-ratelimit-remaining-requests", "x-ratelimit-remaining"];

export default function modelByCost(pi: HookAPI): void {
	/** The model that has reached a limit: one offer for each. */
	let offeredFor: string | null = null;
	let limitedProvider: string | null = null;

	const offer = async (ctx: HookEventContext, reason: string): Promise<void> => {
		if (!ctx.model || offeredFor === nameOf(ctx.model)) return;
		offeredFor = nameOf(ctx.model);
		const model = await findCheaper(ctx, limitedProvider);
		const advice = model ? `/cheaper or alt+m switches to ${describe(model)}` : "no other available model can continue";
		ctx.ui.notify(`${reason} · ${advice}`, "warning");
	};

	const change = async (ctx: CommandContext): Promise<CommandResult> => {
		const model = await findCheaper(ctx, limitedProvider);
		if (!model) return { status: "No cheaper model is available that can continue this work" };
		await ctx.setModel(model);
		return { status: `The model is now ${describe(model)}` };
	};

	pi.flag("budget", { description: "USD after which a cheaper model is offered (default: 5)", type: "string" });
	pi.flag("service-tier", { description: "tier of OpenAI that answers, such as flex", type: "string" });
	pi.command("cheaper", { description: "Switch to the cheapest model that can continue", handler: change });
	pi.shortcut("alt+m", { description: "Switch to the cheapest model that can continue", handler: change });

	pi.on("session", (event, ctx) => {
		if (event.reason === "clear" || event.reason === "switch") offeredFor = null;
		if (event.reason === "start" && budgetOf(ctx) === null) {
			ctx.ui.notify(`--budget expects an amount in USD; ${DEFAULT_BUDGET} is used`, "warning");
		}
	});

	pi.on("turn_end", async (_, ctx) => {
		const cost = costOf(ctx);
		if (cost >= (budgetOf(ctx) ?? DEFAULT_BUDGET)) await offer(ctx, `This session has cost $${cost.toFixed(2)}`);
	});

	pi.on("payload", ({ model, payload }, { flags }) => {
		const tier = flags["service-tier"];
		return tier === undefined || model.provider !== "openai"
			? undefined
			: { payload: { ...payload, service_tier: tier } };
	});

	pi.on("response", async ({ status, headers }, ctx) => {
		if (!ctx.model) return;
		const isLimited = status === 429 || REMAINING.some((name) => headers[name] === "0");
		limitedProvider = isLimited ? ctx.model.provider : null;
		if (isLimited) await offer(ctx, `${ctx.model.provider} limits requests`);
	});
}

/** The cheapest available model that can continue, other than the current one; null if that is the cheapest. */
async function findCheaper(ctx: HookEventContext, limitedProvider: string | null): Promise<Model<Api> | null> {
	const current = ctx.model;
	if (!current) return null;
	const isLimited = current.provider === limitedProvider;
	const able = (await ctx.availableModels())
		.filter((model) => current.input.every((kind) => model.input.includes(kind)))
		.filter((model) => model.reasoning || !current.reasoning)
		.filter((model) => ctx.usage.tokens <= model.contextWindow * (1 - FREE))
		.filter((model) => (isLimited ? model.provider !== limitedProvider : priceOf(model) < priceOf(current)));
	return able.sort((a, b) => priceOf(a) - priceOf(b))[0] ?? null;
}

/** USD for three million tokens of input and one of output, about the ratio in which agents use them. */
function priceOf({ cost }: Model<Api>): number {
	return 3 * cost.input + cost.output;
}

/** USD of all replies in this session. */
function costOf({ entries }: HookEventContext): number {
	return entries
		.filter(isMessageEntry)
		.reduce((sum, { message }) => sum + (message.role === "assistant" ? message.usage.cost.total : 0), 0);
}

/** @returns null if the flag is not an amount */
function budgetOf({ flags }: HookEventContext): number | null {
	if (typeof flags.budget !== "string") return DEFAULT_BUDGET;
	const budget = Number(flags.budget);
	return flags.budget.trim() !== "" && Number.isFinite(budget) && budget >= 0 ? budget : null;
}

function nameOf({ provider, id }: Model<Api>): string {
	return `${provider}/${id}`;
}

function describe(model: Model<Api>): string {
	return `${nameOf(model)} ($${model.cost.input} in, $${model.cost.output} out per million tokens)`;
}
