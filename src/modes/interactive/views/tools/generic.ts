import { cleanLine, styled, wrapLines } from "../../lines.js";
import type { ViewStyle } from "../view.js";
import { failureOf, headOf } from "./output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

/** Characters of arguments that even an expanded call is cut at. */
const MAX_ARGUMENTS = 4000;

/** A tool that pi does not know: its arguments on one line, the beginning of what it returned. */
export const genericPresenter: ToolPresenter = {
	subject: (call) => argumentLine(call, 400),
	body(call, width, style) {
		const result = resultText(call);
		const said = call.isError
			? styled(failureOf(result, width, style), style.theme.error)
			: headOf(result, width, style);
		return style.expanded ? [...argumentLines(call, width, style), ...said] : said;
	},
};

/** The arguments whole, where the head has no room for them. */
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
