import { describe, expect, test } from "vitest";
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

describe("colors of the output", () => {
	const RED = "\x1b[31m";
	const END = "\x1b[0m";
	const red = (text: string) => `${RED}${text}${END}`;
	const lines = (count: number) => Array.from({ length: count }, (_, row) => `line ${row + 1}`);
	const message = { role: "bashExecution", command: "ls", exitCode: 0, cancelled: false, truncated: false } as const;
	/** The rows below the head of a finished command. */
	const draw = (output: string, styled: unknown, change: Parameters<typeof plainStyle>[0] = {}, width = 60) => {
		const view = new BashView(plainStyle({ themeName: "dark", ...change }), "ls", false);
		view.finish({ ...message, output, styled: styled as string, timestamp: 0 });
		return view.render(width).slice(1);
	};
	const RAIL = plainStyle({ themeName: "dark" }).theme.dim("│ ");

	test("are shown, and end with their line", () => {
		expect(draw("red\nplain", `${red("red")}\nplain`)).toEqual([`${RAIL}${red("red")}`, `${RAIL}plain`]);
	});

	test("are shown while the command runs", () => {
		const view = new BashView(plainStyle({ themeName: "dark" }), "ls", false);
		view.update("red", red("red"));
		expect(view.render(60).slice(1)).toEqual([`${RAIL}${red("red")}`]);
		view.update("red\nplain");
		expect(view.render(60).slice(1)).toEqual([`${RAIL}red`, `${RAIL}plain`]);
	});

	test("are those of the last lines in a preview, and of all in the transcript", () => {
		const output = lines(10).join("\n");
		const styled = lines(10).map(red).join("\n");
		expect(draw(output, styled).slice(1)).toEqual(
			lines(10)
				.slice(4)
				.map((line) => `${RAIL}${red(line)}`),
		);
		expect(draw(output, styled, { expanded: true })).toEqual(lines(10).map((line) => `${RAIL}${RED}${line}\x1b[m`));
	});

	test("continue in the rows of a wrapped line, each of which ends them", () => {
		const text = "aaaa bbbb cccc";
		expect(draw(text, red(text), { expanded: true }, 8)).toEqual(
			["aaaa", "bbbb", "cccc"].map((word) => expect.stringMatching(new RegExp(`│ .*\x1b\\[31m${word}\\s*\x1b\\[m$`))),
		);
	});

	test("are not shown without colors", () => {
		expect(draw("red", red("red"), { themeName: "plain" })).toEqual(["│ red"]);
	});

	test.each([
		["other text", "red", red("green")],
		["fewer lines", "a\nb", red("a")],
		["a control sequence", "red", `${RED}\x1b[2Jred${END}`],
		["a line that is too long", "red", `${RED.repeat(10_000)}red`],
	])("of a line with %s are ignored", (_, output, styled) => {
		expect(draw(output, styled).at(-1)).toBe(`${RAIL}${output.split("\n").at(-1)}`);
	});

	test("of a failed command do not depend on how its output ends", () => {
		const view = new BashView(plainStyle({ themeName: "dark" }), "ls", false);
		const output = "red\n\nexit code 3";
		view.finish({ ...message, exitCode: 3, output, styled: `${red("red")}\n\nexit code 3`, timestamp: 0 });
		expect(view.render(60).slice(1)).toEqual([`${RAIL}${red("red")}`]);
	});
});
