import { toolCall } from "../../../helpers/loopback-provider.js";
import { type App, type AppOptions, startApp } from "../app.js";

/** `/tail` replaces all earlier messages with a line. */
export const TAIL = `
import { isUserMessageEntry } from "@mariozechner/pi-coding-agent/hooks";
export default (pi) => {
	pi.on("context", ({ entries, messages }) => {
		const mark = entries.findLastIndex(({ type }) => type === "tail_mark");
		if (mark < 0) return;
		const kept = messages.filter(({ entryIndex }) => entryIndex !== null && entryIndex > mark);
		return { messages: [{ role: "user", content: "[Earlier work: the price code was read.]", timestamp: 0 }, ...kept] };
	});
	pi.command("tail", { handler: async (ctx) => { await ctx.saveEntry({ type: "tail_mark" }); await ctx.rebuildContext(); } });
};`;

/** Truncates tool results. */
export const PRUNE = `
export default (pi) => pi.on("context", ({ messages }) => ({
	messages: messages.map((item) => item.message.role !== "toolResult" ? item : {
		...item, message: { ...item.message, content: [{ type: "text", text: "[cut]" }] },
	}),
}));`;

/** Entries 1 to 5: a question, a tool call with its result, a reply, another question and its answer. */
export async function startWithWork(
	hooks: Record<string, string>,
	size: { columns?: number; rows?: number } = {},
	mode: AppOptions["mode"] = {},
): Promise<App> {
	const app = await startApp({
		rows: 30,
		...size,
		hooks,
		mode,
		files: { "price.ts": "export const price = 1;\n".repeat(40) },
	});
	app.provider.reply([toolCall("read", { path: "price.ts" })], "It rounds down.", "The tax code is next.");
	await app.terminal.waitFor("0%");
	await app.submit("why does checkout round down?");
	await app.terminal.waitFor("It rounds down.");
	return app;
}

/** The lines of the panel; today's date and the temporary directory are fixed. */
export async function panel(app: App): Promise<string[]> {
	const screen = await app.terminal.screen();
	const from = screen.findIndex((line) => /^─+$/.test(line));
	const to = screen.findIndex((line, at) => at > from && (line.startsWith("~") || line.startsWith("/tmp")));
	return screen
		.slice(from, to)
		.map((line) => line.replace(/Date: \d{4}-\d\d-\d\d/, "Date: 2026-01-02").replace(/(pi-home-)\w{6}/, "$1XXXXXX"));
}
