import headless from "@xterm/headless";
import { expect, onTestFinished, test } from "vitest";
import { terminalSvg } from "./svg.js";

async function picture(data: string, options: { from?: number; to?: number } = {}): Promise<string[]> {
	const terminal = new headless.Terminal({ cols: 20, rows: 4, allowProposedApi: true });
	onTestFinished(() => terminal.dispose());
	await new Promise<void>((resolve) => terminal.write(data, resolve));
	const svg = terminalSvg(terminal, { title: "a <title>", ...options });
	expect(svg).toContain("<title>a &lt;title></title>");
	// The lines between the frame and the end tag.
	return svg.trimEnd().split("\n").slice(4, -1);
}

test("text is drawn at its column and row, escaped, in its colors", async () => {
	expect(await picture("a <b>  & c\r\n\x1b[31;1mred\x1b[0m \x1b[38;2;1;2;3mown\x1b[0m\x1b[7mx\x1b[0m")).toEqual([
		'<text x="16" y="29" textLength="42">a &lt;b></text>',
		'<text x="74.8" y="29" textLength="25.2">&amp; c</text>',
		'<text x="16" y="47" textLength="25.2" style="fill:#e06c75" class="b">red</text>',
		'<text x="49.6" y="47" textLength="25.2" style="fill:#010203">own</text>',
		'<rect x="74.8" y="34" width="8.4" height="18" fill="#d5d9e0"/><text x="74.8" y="47" textLength="8.4" style="fill:#16181d">x</text>',
	]);
});

test("rules and the gutter are drawn as shapes, so that no font leaves gaps in them", async () => {
	expect(await picture("───\r\n▎ │", { to: 2 })).toEqual([
		'<rect x="16" y="25" width="25.2" height="1" fill="#d5d9e0"/>',
		'<rect x="16" y="34" width="2" height="18" fill="#d5d9e0"/>',
		'<rect x="37" y="34" width="1" height="18" fill="#d5d9e0"/>',
	]);
});

test("only the requested rows are drawn, and wide characters use two columns", async () => {
	expect(await picture("one\r\n日本x\r\nthree", { from: 1, to: 2 })).toEqual([
		'<text x="16" y="29" textLength="42">日本x</text>',
	]);
});
