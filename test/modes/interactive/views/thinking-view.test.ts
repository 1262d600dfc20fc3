import { expect, test } from "vitest";
import { ThinkingView } from "../../../../src/modes/interactive/views/thinking-view.js";
import type { ViewStyle } from "../../../../src/modes/interactive/views/view.js";
import { createKeymap } from "../../../../src/tui/keymap.js";
import { plainStyle } from "../plain-style.js";

function draw(change: Partial<ViewStyle>): string[] {
	const view = new ThinkingView(plainStyle(change));
	view.finish("First the price code.");
	return view.render(60);
}

test.each([
	[{}, "∴ thinking hidden · ctrl+t shows it", " · ctrl+t"],
	[{ "app.toggleThinking": [] }, "∴ thinking hidden", ""],
])("folded thinking names the key that shows it, if it has one", (bindings, hidden, hint) => {
	const keymap = createKeymap(bindings);
	expect(draw({ keymap, previewThinking: false })).toEqual([hidden]);
	expect(draw({ keymap })).toEqual([`∴ First the price code.${hint}`]);
});
