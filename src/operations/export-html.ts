import type { ToolResultMessage } from "@mariozechner/pi-ai";
import { resolveUserPath } from "../config/paths.js";
import type { DrawTool } from "../export/html-tool.js";
import { PLAIN_THEME } from "../hooks/plain-theme.js";
import { type Drawing, drawCall, drawResult, readDrawnText, type ToolRenderer } from "../hooks/tool-drawing.js";
import { SessionName } from "../log/last-choices.js";
import { viewLog } from "../session/log-view.js";
import type { SessionComponents } from "../session/session-components.js";
import { TEXT } from "./input.js";
import { operation } from "./operation.js";

/**
 * Exports the session to one file, as HTML unless the name says another format: `.md`, `.jsonl` or `.json`.
 * @param path relative to the session's directory, or in the home directory with `~/`; default: a name that contains the session id
 * @returns the absolute path
 * @throws PiError `export_failed`
 */
export const exportHtml = operation({
	request: null,
	async run({ state, store, context, hooks }: SessionComponents, path?: string): Promise<string> {
		const { exportToFile, formatOfName } = await import("../export/formats.js");
		const id = state.log.id.slice(0, 8);
		const target = resolveUserPath(path ?? `pi-session-${id}.html`, store.cwd);
		await exportToFile(target, formatOfName(target) ?? "html", {
			entries: viewLog(state.log),
			context: context.current,
			name: new SessionName().of(state.log),
			drawTool: (call, result) => drawToolText(hooks.drawings.toolRenderer(call.name), call.arguments, result),
		});
		return target;
	},
	rpc: {
		command: "export_html",
		input: { type: "object", required: [], properties: { outputPath: TEXT } },
		answer: async (run, { outputPath }) => ({ path: await run(outputPath) }),
	},
});

/** A call as its hook draws it, in text; null if no hook does. */
function drawToolText(
	renderer: ToolRenderer | undefined,
	args: Readonly<Record<string, unknown>>,
	result: ToolResultMessage | undefined,
): ReturnType<DrawTool> {
	if (!renderer) return null;
	const options = { expanded: true, isPartial: false, isError: result?.isError ?? false };
	const head = drawCall(renderer, args, PLAIN_THEME, readDrawnText);
	const body = result ? drawResult(renderer, result, options, PLAIN_THEME, readDrawnText) : null;
	const textOf = (drawing: Drawing<string> | null) => (drawing && "drawn" in drawing ? drawing.drawn : null);
	return {
		title: textOf(head),
		body: textOf(body),
		errors: [head, body].flatMap((drawing) => (drawing && "error" in drawing ? [drawing.error] : [])),
	};
}
