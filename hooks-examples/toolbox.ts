/**
 * Tools that are seldom needed stay out of the requests until the model asks for them: `pi --toolbox deploy,query_db`.
 * The tool `open_toolbox` names them with a line each, and offers those that the model chooses from the next request on.
 *
 * Every tool is part of every request. A tool that joins later changes the start of the request, which the provider then
 * processes again, unless the model can take tools in the middle of a conversation: `append` adds them there.
 */
import { type CustomEntry, type HookAPI, isMessageEntry, type SessionEntry } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";

/** Tools that the model has taken out of the box. */
interface Opened extends CustomEntry {
	type: "toolbox_opened";
	tools: readonly string[];
}

export default function toolbox(pi: HookAPI): void {
	pi.flag("toolbox", {
		type: "string",
		description: "Names of tools that the model gets only when it asks, with commas",
	});
	pi.entry("toolbox_opened", {
		render: (entry, theme) =>
			theme.dim(`◇ out of the toolbox: ${isOpened(entry) ? entry.tools.join(", ") : "nothing"}`),
	});

	pi.tool({
		name: "open_toolbox",
		description: "Shows tools that are not offered yet, or offers those that you name. Without names it lists them.",
		promptLine: "list and get tools that are not offered yet",
		parameters: Type.Object({ names: Type.Optional(Type.Array(Type.String(), { description: "Tools to offer" })) }),
		async run({ names = [] }, { ctx }) {
			const boxed = boxedTools(ctx.flags.toolbox, ctx.tools.active);
			const closed = boxed.filter(({ name }) => !opened(ctx.entries).has(name));
			const chosen = closed.filter(({ name }) => names.includes(name)).map(({ name }) => name);
			if (chosen.length > 0) {
				await ctx.saveEntry({ type: "toolbox_opened", tools: chosen });
				return answer(`You can now call ${chosen.join(", ")}.`);
			}
			const list = closed.map(({ name, description }) => `${name}: ${description.split(/(?<=\.)\s/)[0]}`);
			return answer(list.length > 0 ? list.join("\n") : "The toolbox is empty: all tools are offered.");
		},
	});

	pi.on("context", ({ entries, tools, facts }) => {
		const names = new Set(boxedTools(facts.flags.toolbox, tools).map(({ name }) => name));
		// Without a box there is nothing to open.
		const hidden = names.size > 0 ? names : new Set(["open_toolbox"]);
		const offered = tools.filter(({ name }) => !hidden.has(name)).map(({ name }) => name);
		const append = entries.flatMap((entry, after) => {
			const taken = isOpened(entry) ? entry.tools.filter((name) => names.has(name)) : [];
			return taken.length > 0 ? [{ after, tools: taken }] : [];
		});
		return { tools: offered, append };
	});
}

/** The tools that the flag names, except `open_toolbox` itself. */
function boxedTools<T extends { readonly name: string }>(flag: unknown, tools: readonly T[]): T[] {
	const names = typeof flag === "string" ? flag.split(",").map((name) => name.trim()) : [];
	return tools.filter(({ name }) => names.includes(name) && name !== "open_toolbox");
}

function opened(entries: readonly SessionEntry[]): ReadonlySet<string> {
	return new Set(entries.flatMap((entry) => (isOpened(entry) ? entry.tools : [])));
}

function isOpened(entry: SessionEntry): entry is Opened {
	return (
		!isMessageEntry(entry) &&
		entry.type === "toolbox_opened" &&
		"tools" in entry &&
		Array.isArray(entry.tools) &&
		entry.tools.every((name) => typeof name === "string")
	);
}

function answer(text: string) {
	return { content: [{ type: "text" as const, text }] };
}
