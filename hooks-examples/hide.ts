/**
 * `/hide [from] [to]` takes the work of turns out of the context, without a summary: replies, tool calls and results are hidden,
 * what the user wrote stays. `/unhide` brings back what was hidden last. Nothing is deleted, and nobody is asked to summarize.
 */
import {
	type CommandContext,
	type CommandResult,
	type CustomEntry,
	firstKeptEntry,
	groupTurns,
	type HookAPI,
	isUserMessageEntry,
	keepChanges,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** The entries `[from, to)` are hidden, prompts excepted. */
interface Hide extends CustomEntry {
	type: "hide";
	from: number;
	to: number;
	/** Numbers of the first and the last turn. */
	turns: readonly [number, number];
}

export default function hide(pi: HookAPI): void {
	pi.entry("hide", { render: (entry, theme) => theme.dim(isHide(entry) ? `◇ hid ${nameOf(entry)}` : "invalid hide") });
	pi.entry("unhide", { render: (_, theme) => theme.dim("◇ what was hidden last is in the context again") });

	pi.command("hide", {
		description: "Take the work of turns out of the context; your prompts stay",
		argumentHint: "[from] [to]",
		complete: (prefix, { entries }) =>
			groupTurns(entries)
				.map(optionOf)
				.filter(({ value }) => value.startsWith(prefix.trim()))
				.reverse(),
		handler: (ctx) => (ctx.isIdle ? hideTurns(ctx) : { status: "Wait until the agent is done, then run /hide" }),
	});

	pi.command("unhide", {
		description: "Bring back what /hide took out of the context last",
		async handler(ctx) {
			const last = hidden(ctx.entries).at(-1);
			if (!last) return { status: "Nothing is hidden" };
			await ctx.saveEntry({ type: "unhide", hideIndex: last.index });
			await ctx.rebuildContext();
			return ctx.hasUI ? undefined : { status: `The model sees ${nameOf(last.entry)} again` };
		},
	});

	pi.on("context", (event) => {
		const { entries } = event;
		const ranges = hidden(entries).map(({ entry: { from, to }, index }) => ({
			...{ from: Math.max(from, firstKeptEntry(entries)), to, summary: null, id: index },
			except: entries.flatMap((entry, at) => (at >= from && at < to && isUserMessageEntry(entry) ? [at] : [])),
		}));
		return ranges.length === 0 ? undefined : { messages: keepChanges(event, ranges) };
	});
}

async function hideTurns(ctx: CommandContext): Promise<CommandResult | undefined> {
	const turns = groupTurns(ctx.entries);
	const first = ctx.args[0] ?? (await ctx.ui.select("Hide the work of which turn?", turns.map(optionOf).reverse()));
	if (first === null) return ctx.hasUI ? undefined : { status: "Specify a turn: /hide <from> [to]" };
	const last = ctx.args[1] ?? first;
	const from = turns.find(({ number }) => String(number) === first);
	const to = turns.find(({ number }) => String(number) === last);
	if (!from || !to || to.from < from.from)
		return { status: `No turns ${first} to ${last} · there are ${turns.length}` };
	const entry = { type: "hide", from: from.from, to: to.to, turns: [from.number, to.number] } as const;
	await ctx.saveEntry(entry);
	await ctx.rebuildContext();
	// On a screen the transcript shows the entry.
	return ctx.hasUI ? undefined : { status: `The model no longer sees the work of ${nameOf(entry)}` };
}

function optionOf({ number, prompt }: { number: number; prompt: string }) {
	return { value: String(number), label: `${number}  ${prompt.replace(/\s+/g, " ").slice(0, 60)}`.toWellFormed() };
}

/** What is hidden and was not brought back, oldest first. */
function hidden(entries: readonly SessionEntry[]): { entry: Hide; index: number }[] {
	const undone = new Set(
		entries.map((entry) => (entry.type === "unhide" && "hideIndex" in entry ? entry.hideIndex : null)),
	);
	return entries.flatMap((entry, index) =>
		isHide(entry) && entry.to <= index && !undone.has(index) ? [{ entry, index }] : [],
	);
}

function isHide(entry: SessionEntry): entry is Hide {
	const { type, from, to, turns } = entry as Partial<Hide>;
	return type === "hide" && Number.isInteger(from) && Number.isInteger(to) && Array.isArray(turns);
}

function nameOf({ turns: [first, last] }: Pick<Hide, "turns">): string {
	return first === last ? `turn ${first}` : `turns ${first} to ${last}`;
}
