/**
 * The tool `batch`: the model runs several tools with one call, and reads their results together. Saves a request for each
 * call that does not need the result of the one before.
 *
 * Every call goes through the same checks as one that the model makes itself: guards see it with `caller`, and it is an
 * entry of the session and a line below the call of `batch`.
 */
import type { HookAPI, ToolCallResult } from "@mariozechner/pi-coding-agent/hooks";
import { Type } from "typebox";

/** Characters of all results together. */
const MAX_CHARS = 40_000;

const PARAMETERS = Type.Object({
	calls: Type.Array(
		Type.Object({
			tool: Type.String({ description: "Name of a tool, except batch" }),
			args: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "The arguments of that tool" })),
		}),
		{ minItems: 1, maxItems: 20 },
	),
});

export default function batch(pi: HookAPI): void {
	pi.tool({
		name: "batch",
		description:
			"Run up to 20 calls of other tools, one after another, and return all results. A call that fails does not stop the next ones. Use it when no call needs the result of another one.",
		promptLine: "run several calls of other tools in one go",
		parameters: PARAMETERS,
		async run({ calls }, { ctx, signal }) {
			const share = Math.floor(MAX_CHARS / calls.length);
			const content: ToolCallResult["content"][number][] = [];
			let failed = 0;
			for (const [index, { tool, args = {} }] of calls.entries()) {
				if (signal.aborted) break;
				// The model chooses the tool: it must not get one that a hook, such as plan-mode, hides from it.
				const isOffered = ctx.tools.offered.some(({ name }) => name === tool);
				const result = isOffered ? await ctx.tools.call(tool, args) : failure(`There is no tool "${tool}"`);
				if (result.isError) failed++;
				content.push({ type: "text", text: `## ${index + 1}. ${tool}${result.isError ? " (failed)" : ""}` });
				for (const block of result.content)
					content.push(block.type === "text" ? { type: "text", text: shorten(block.text, share) } : block);
			}
			return { content, details: { calls: calls.length, failed }, isError: failed === calls.length };
		},
	});
}

function failure(text: string): ToolCallResult {
	return { content: [{ type: "text", text }], isError: true };
}

/** The start and the end of a text that is too long. */
function shorten(text: string, most: number): string {
	if (text.length <= most) return text;
	const half = Math.floor(most / 2);
	return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out: make this call on its own …]\n${text.slice(-half)}`;
}
