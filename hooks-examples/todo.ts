/**
 * A to-do list of the model: the tool `todo` replaces the complete list, and returns it if the model passes no items. While
 * items are open, they are shown above the editor; `/todo` shows all items.
 *
 * Each change is an entry of the session and the last one wins: the list survives a restart, and after `/branch` it is the
 * one of that moment. Without a screen, tool and command work the same and nothing is shown above an editor.
 */
import type { EntryTheme, HookAPI, HookEventContext, SessionEntry } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";

interface Todo {
	text: string;
	done: boolean;
}

/** Maximum number of items above the editor. */
const MAX_SHOWN = 5;

/** Reasons of `session` after which the entries are those of another session, or of a hook that has just loaded. */
const SHOW_AFTER = ["start", "switch", "clear", "branch"];

export default function todo(pi: HookAPI): void {
	pi.entry("todo_list");

	pi.tool({
		name: "todo",
		description:
			"Keep a to-do list for work of several steps. Pass the complete list each time, with `done` for finished items. " +
			"Without items, returns the list.",
		promptLine: "todo: keep a to-do list that the user sees",
		parameters: Type.Object({
			items: Type.Optional(
				Type.Array(Type.Object({ text: Type.String({ minLength: 1 }), done: Type.Boolean() }), {
					description: "The complete list, in order",
				}),
			),
		}),
		async run({ items }, { ctx }) {
			if (items) {
				await ctx.saveEntry({ type: "todo_list", items });
				show(ctx);
			}
			const list = items ?? readList(ctx.entries);
			const text = list.length > 0 ? list.map((item) => line(item)).join("\n") : "The list is empty.";
			return { content: [{ type: "text", text }], details: { items: list } };
		},
		renderCall: ({ items }, theme) => `${theme.bold("todo")} ${theme.dim(items ? countOf(items) : "read")}`,
		renderResult({ content, details }, theme, { isError }) {
			if (details && !isError) return details.items.map((item) => line(item, theme)).join("\n");
			return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
		},
	});

	pi.command("todo", {
		description: "Show the to-do list of the model",
		handler(ctx) {
			const items = readList(ctx.entries);
			if (items.length === 0) return { status: "The to-do list is empty" };
			return { status: [countOf(items), ...items.map((item) => line(item))].join("\n") };
		},
	});

	pi.on("session", (event, ctx) => {
		if (SHOW_AFTER.includes(event.reason)) show(ctx);
	});
}

/** Shows the open items above the editor, or removes them. */
function show(ctx: HookEventContext): void {
	const open = readList(ctx.entries).filter(({ done }) => !done);
	const more = open.length > MAX_SHOWN ? [ctx.ui.theme.dim(`… ${open.length - MAX_SHOWN} more · /todo shows all`)] : [];
	const lines = open.slice(0, MAX_SHOWN).map((item) => line(item, ctx.ui.theme));
	ctx.ui.setWidget("open", open.length > 0 ? [...lines, ...more] : undefined);
}

/** The list of the last entry. The log is untrusted input, so this checks every field. */
function readList(entries: readonly SessionEntry[]): Todo[] {
	const last = entries.findLast(({ type }) => type === "todo_list");
	if (!last || !("items" in last) || !Array.isArray(last.items)) return [];
	return last.items.filter(
		(item: unknown): item is Todo =>
			typeof item === "object" &&
			item !== null &&
			"text" in item &&
			typeof item.text === "string" &&
			"done" in item &&
			typeof item.done === "boolean",
	);
}

function line({ text, done }: Todo, theme?: EntryTheme): string {
	const single = text.replace(/\s+/g, " ").trim();
	if (!theme) return `${done ? "☑" : "☐"} ${single}`;
	return done ? `${theme.success("☑")} ${theme.dim(single)}` : `${theme.accent("☐")} ${single}`;
}

function countOf(items: readonly Partial<Todo>[]): string {
	return `${items.filter(({ done }) => done).length} of ${items.length} done`;
}
