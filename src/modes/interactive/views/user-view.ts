import type { UserMessage } from "@mariozechner/pi-ai";
import { messageText } from "../../../log/entry.js";
import { plural } from "../format.js";
import { cleanLines, clipLine, styled, wrapLines } from "../lines.js";
import { type Look, View } from "./view.js";

/** Lines of a prompt that are shown unless everything is expanded. */
const MAX_LINES = 24;

/** What the user said. Long pastes are cut. */
export class UserView extends View {
	constructor(
		look: Look,
		private readonly message: UserMessage,
	) {
		super(look);
	}

	protected override draw(width: number): string[] {
		const { theme, expanded, keys } = this.look;
		// Without colours only a mark tells who speaks.
		const mark = theme.name === "plain" ? "› " : "";
		const text = messageText(this.message).trim();
		const lines = text ? wrapLines(cleanLines(text), width - mark.length) : [];
		const shown = expanded || lines.length <= MAX_LINES + 1 ? lines : lines.slice(0, MAX_LINES);
		const drawn = styled(shown, theme.userText).map((line, row) => (mark ? (row === 0 ? mark : "  ") + line : line));
		if (shown.length < lines.length) {
			drawn.push(theme.dim(`… ${plural(lines.length - shown.length, "line")} below · ${keys.expand} shows all`));
		}
		for (const label of imageLabels(this.message)) drawn.push(theme.dim(label));
		return drawn.map((line) => clipLine(line, width));
	}
}

function imageLabels(message: UserMessage): string[] {
	if (typeof message.content === "string") return [];
	return message.content
		.filter((block) => block.type === "image")
		.map((image) => `[image ${image.mimeType.replace(/[^\w/+.-]/g, "")}, ${kilobytes(image.data)} KB]`);
}

function kilobytes(base64: string): number {
	return Math.max(1, Math.round((base64.length * 3) / 4 / 1024));
}
