import { cleanLine, styled, wrapLines } from "../../lines.js";
import type { ViewStyle } from "../view.js";
import { failureOf, headOf } from "./output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

/** Maximum characters of the arguments of an expanded call. */
const MAX_ARGUMENTS = 4000;

/** Any other tool: its arguments on one line, and the beginning of its result. */
export const genericPresenter: ToolPresenter = {
	subject: (call) => argumentLine(call, 400),
	body(call, width, style) {
		const result = resultText(call);
		const output = call.isError
			? styled(failureOf(result, width, style), style.theme.error)
			: headOf(result, width, style);
		return style.expanded ? [...argumentLines(call, width, style), ...output] : output;
	},
};

/** The full arguments, when they do not fit in the head. */
function argumentLines(call: ToolCallState, width: number, style: ViewStyle): string[] {
	const text = argumentLine(call, MAX_ARGUMENTS);
	const room = width - call.name.length - 2;
	return text.length > room ? styled(wrapLines([text], width), style.theme.muted) : [];
}

function argumentLine(call: ToolCallState, maxLength: number): string {
	const parts = Object.entries(call.args).map(([name, value]) => {
		const text = typeof value === "string" ? value : JSON.stringify(value);
		return `${name}=${text}`.slice(0, maxLength / 2);
	});
	return cleanLine(parts.join(" "), maxLength);
}
