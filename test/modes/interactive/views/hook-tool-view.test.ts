import { visibleWidth } from "@mariozechner/pi-tui";
import { expect, test } from "vitest";
import { errorText } from "../../../../src/errors.js";
import type { ToolRenderer } from "../../../../src/hooks/tool-drawing.js";
import { ToolCallView } from "../../../../src/modes/interactive/views/tool-call-view.js";
import { safeLine } from "../../../../src/tui/safe-line.js";
import { HOSTILE_TEXT } from "../hostile.js";
import { plainStyle } from "../plain-style.js";

/** Functions that may return values their types forbid, like hook code. */
interface Draws {
	renderCall?: (...args: never[]) => unknown;
	renderResult?: (...args: never[]) => unknown;
}

const describeError = (event: string, thrown: unknown) => `Hook todo.ts failed on ${event}: ${errorText(thrown)}`;
const observer = { describeError, drew: () => {} };
const ARGS = { title: "buy tea" };
const RESULT = { content: [{ type: "text" as const, text: "1 open" }], details: { open: 1 } };

function viewOf(draws: Draws, style = plainStyle()): ToolCallView {
	const renderer = { ...observer, ...draws } as ToolRenderer;
	const view = new ToolCallView(style, "todo", ARGS, (name) => (name === "todo" ? renderer : undefined));
	view.start(ARGS);
	return view;
}

function drawn(
	draws: Draws,
	{ width = 60, result = RESULT, isError = false }: { width?: number; result?: object; isError?: boolean } = {},
) {
	const view = viewOf(draws);
	view.finish({ ...RESULT, ...result }, isError);
	return view.render(width);
}

test("the call and the result are drawn by the hook, each without the other too", () => {
	const renderCall = ({ title }: { title: string }) => `todo + ${title}`;
	const renderResult = ({ details }: { details: { open: number } }) => `${details.open} to do`;
	expect(drawn({ renderCall, renderResult })).toEqual(["todo + buy tea", "│ 1 to do"]);
	expect(drawn({ renderCall })).toEqual(["todo + buy tea", "│ 1 open"]);
	expect(drawn({ renderResult })).toEqual(["todo  title=buy tea", "│ 1 to do"]);
	expect(drawn({ renderResult: () => "" })).toEqual(["todo  title=buy tea"]);
});

test("a component gets its width, and options say how the result is shown", () => {
	const seen: unknown[] = [];
	const view = viewOf(
		{
			renderCall: () => ({ render: (width: number) => [`call ${width}`, "second row"] }),
			renderResult: (...[, , options]: unknown[]) => {
				seen.push(options);
				return { render: (width: number) => [`result ${width}`] };
			},
		},
		plainStyle({ expanded: true }),
	);
	view.update(RESULT);
	expect(view.render(50)).toEqual(["call 50", "second row", "│ result 48"]);
	view.finish(RESULT, false);
	expect(view.render(40)).toEqual(["call 40", "second row", "│ result 38"]);
	expect(seen).toEqual([
		{ expanded: true, isPartial: true, isError: false },
		{ expanded: true, isPartial: false, isError: false },
	]);
});

test("a call that is still written, and a failure that is not the tool's own, are drawn without the hook", () => {
	const fail = () => {
		throw new Error("must not be called");
	};
	const renderer: ToolRenderer = { ...observer, renderCall: fail, renderResult: fail };
	const view = new ToolCallView(plainStyle(), "todo", {}, () => renderer);
	view.describe("todo", { title: "bu" }, false);
	expect(view.render(60)).toEqual(["todo  title=bu"]);
	const blocked = { content: [{ type: "text" as const, text: "no" }], details: undefined };
	expect(drawn({ renderResult: fail }, { result: blocked, isError: true })).toEqual([
		expect.stringMatching(/^todo {2}title=buy tea +failed ✗$/),
		"│ no",
	]);
});

test.each<[string, () => unknown, string]>([
	[
		"throws",
		() => {
			throw new Error("no\u001b[2J data");
		},
		"no␛[2J data",
	],
	["returns nothing", () => undefined, "the renderer returned neither a string nor a component"],
	["returns a promise", async () => "text", "the renderer returned neither a string nor a component"],
	[
		"returns a component without lines",
		() => ({ render: () => "text" }),
		"the component's render() did not return an array of lines",
	],
	[
		"returns a component that throws",
		() => ({
			render: () => {
				throw new Error("no room");
			},
		}),
		"no room",
	],
])("a function that %s is reported below the view of any tool", (_, render, reason) => {
	expect(drawn({ renderResult: render }, { width: 150 })).toEqual([
		"todo  title=buy tea",
		"│ 1 open",
		expect.stringContaining(`│ ✗ Hook todo.ts failed on renderResult: ${reason}`),
	]);
	const both = drawn({ renderCall: render, renderResult: render }, { width: 150 });
	expect(both).toEqual([
		"todo  title=buy tea",
		"│ 1 open",
		expect.stringContaining(`│ ✗ Hook todo.ts failed on renderCall: ${reason}`),
		expect.stringContaining(`│ ✗ Hook todo.ts failed on renderResult: ${reason}`),
	]);
});

test("text of a hook has no control sequences and fits, at any width", () => {
	const image = "\x1b_Gi=1,c=1,r=9;\x1b\\ \x1b]1337;File=inline=1:AAAA\x07";
	const lines = [HOSTILE_TEXT, image, "line\n".repeat(2000)];
	for (const width of [1, 5, 30, 120]) {
		for (const render of [() => lines.join("\n"), () => ({ render: () => lines })]) {
			for (const row of drawn({ renderCall: render, renderResult: render }, { width })) {
				expect(visibleWidth(row)).toBeLessThanOrEqual(width);
				expect(row.replace(/\x1b\[[\d;]*m/g, "")).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
				expect(safeLine(row, width)).toBe(row);
			}
		}
	}
});

test("a hook cannot change arguments and result by drawing them", () => {
	const args = { title: "buy tea" };
	const change = (value: { title?: string; content?: unknown[] }) => {
		value.title = "sold";
		value.content?.push("more");
		return "changed";
	};
	const renderer = { ...observer, renderCall: change, renderResult: change } as unknown as ToolRenderer;
	const view = new ToolCallView(plainStyle(), "todo", args, () => renderer);
	view.start(args);
	const result = { content: [{ type: "text" as const, text: "1 open" }], details: {} };
	view.finish(result, false);
	expect(view.render(100).join("\n")).toContain("✗ Hook todo.ts failed on renderCall: ");
	expect(args).toEqual({ title: "buy tea" });
	expect(result.content).toHaveLength(1);
});

test("a partial result of many lines fits on the screen", () => {
	const style = plainStyle();
	const view = viewOf({ renderResult: () => "line\n".repeat(400) }, style);
	view.update(RESULT);
	expect(view.render(60).length).toBeLessThanOrEqual(style.liveRows() + 1);
});

test("blanks with which a component fills its first row do not count as text", () => {
	const renderCall = () => ({ render: (width: number) => [`\x1b[1m${"delete all".padEnd(width)}\x1b[0m`] });
	expect(drawn({ renderCall }, { isError: true, width: 40 })[0]).toMatch(/^\x1b\[1mdelete all\x1b\[0m +failed ✗$/);
});
