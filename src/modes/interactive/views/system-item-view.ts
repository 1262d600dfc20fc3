import type { SystemItemEntry } from "../../../log/entry.js";
import { hookName } from "../../format.js";
import { cleanLine, cleanLines, clipLine, styled, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** Text that a feature or hook added for the model, and who did. */
export class SystemItemView extends View {
	constructor(
		style: ViewStyle,
		private readonly entry: SystemItemEntry,
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { theme, expanded } = this.style;
		const who = `${cleanLine(hookName(this.entry.source), 40)}:`;
		const lines = wrapLines(
			[`${who} ${cleanLines(this.entry.item.text.trim()).join("\n")}`].join("").split("\n"),
			width,
		);
		return styled(expanded ? lines : lines.slice(0, 2).map((line) => clipLine(line, width)), theme.muted);
	}
}
