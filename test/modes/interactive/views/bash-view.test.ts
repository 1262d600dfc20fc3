import { expect, test } from "vitest";
import { BashView } from "../../../../src/modes/interactive/views/bash-view.js";
import { plainStyle } from "../plain-style.js";

test.each([
	[null, false, "! make", "killed ✗"],
	[137, false, "! make", "exit 137 ✗"],
	[0, false, "! make", "exit 0"],
	[null, true, "! make", "stopped"],
])("a command with exit code %j, canceled: %j, ends in %j … %j", (exitCode, cancelled, start, end) => {
	const message = {
		role: "bashExecution",
		command: "make",
		output: "",
		exitCode,
		cancelled,
		truncated: false,
	} as const;
	for (const width of [40, 80, 120]) {
		const view = new BashView(plainStyle(), "make", false);
		view.finish({ ...message, timestamp: 0 });
		const [line = ""] = view.render(width);
		expect(line).toBe(start + end.padStart(width - start.length));
	}
});
