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

test("the output of a command of which only the end was kept says so, and where the rest is", () => {
	const output = Array.from({ length: 10 }, (_, row) => `line ${row + 1}`).join("\n");
	const message = { role: "bashExecution", command: "seq", output, exitCode: 0, cancelled: false } as const;
	const draw = (expanded: boolean) => {
		const view = new BashView(plainStyle({ expanded }), "seq", false);
		view.finish({ ...message, truncated: true, fullOutputPath: "/tmp/full.log", timestamp: 0 });
		return view.render(60).slice(1);
	};
	expect([draw(false)[0], draw(false).at(-1)]).toEqual([
		"│ … more than 4 lines above · ctrl+o transcript",
		"│ full output: /tmp/full.log",
	]);
	expect([draw(true)[0], draw(true)[1], draw(true).at(-1)]).toEqual([
		"│ … earlier output · full output: /tmp/full.log",
		"│ line 1",
		"│ line 10",
	]);
});
