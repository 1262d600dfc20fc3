import { cleanLine } from "../../lines.js";
import { headOf } from "./output.js";
import { resultText, type ToolCallState, type ToolPresenter } from "./presenter.js";

/** A tool that pi does not know: its arguments on one line, the beginning of what it returned. */
export const genericPresenter: ToolPresenter = {
	subject: (call) => argumentLine(call),
	body: (call, width, look) => (call.isError ? [] : headOf(resultText(call), width, look)),
};

function argumentLine(call: ToolCallState): string {
	const parts = Object.entries(call.args).map(([name, value]) => {
		const text = typeof value === "string" ? value : JSON.stringify(value);
		return `${name}=${text}`.slice(0, 200);
	});
	return cleanLine(parts.join(" "), 400);
}
