/**
 * The packages that hooks share with the program: one instance each, wherever the hook file lives. They are loaded when
 * a hook may need them; the screen library only when a hook's source names it or has local imports that might.
 */
export async function loadHostModules(sources: readonly string[]): Promise<Record<string, unknown>> {
	const wantsTui = sources.some(
		(source) => source.includes("pi-tui") || /from\s*["']\.|import\s*\(|require\s*\(/.test(source),
	);
	const [ai, typebox, hooks, program, tui] = await Promise.all([
		import("@mariozechner/pi-ai"),
		import("typebox"),
		import("./index.js"),
		import("../index.js"),
		wantsTui ? import("@mariozechner/pi-tui") : undefined,
	]);
	const modules: Record<string, unknown> = {
		"@mariozechner/pi-ai": ai,
		"@mariozechner/pi-coding-agent": program,
		"@mariozechner/pi-coding-agent/hooks": hooks,
		typebox,
		"@sinclair/typebox": typebox,
	};
	if (tui) modules["@mariozechner/pi-tui"] = tui;
	return modules;
}
