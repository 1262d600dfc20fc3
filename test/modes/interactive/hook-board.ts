import { type App, startApp } from "./app.js";

/** Starts pi with one hook whose commands are given as the bodies of their handlers. */
export async function start(
	commands: Record<string, string>,
	options: Parameters<typeof startApp>[0] = {},
): Promise<App> {
	const registered = Object.entries(commands).map(
		([name, body]) => `pi.command("${name}", { handler: async (ctx) => { ${body} } });`,
	);
	const app = await startApp({
		...options,
		hooks: { "board.ts": `export default (pi) => { ${registered.join("\n")} };`, ...options.hooks },
	});
	await app.terminal.waitFor("0%");
	return app;
}

/** The rows from the editor's lower border to the end of the screen. */
export async function belowEditor({ terminal }: App): Promise<string[]> {
	const rows = await terminal.screen();
	return rows.slice(rows.findLastIndex((row) => row.startsWith("────")) + 1);
}
