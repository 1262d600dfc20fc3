import { basename } from "node:path";
import type { UserMessage } from "@mariozechner/pi-ai";
import { messageText } from "../../../log/entry.js";
import { plural } from "../../format.js";
import { cleanLines, clipLine, styled, wrapLines } from "../lines.js";
import { ImageLines, type NamedImage } from "./image-lines.js";
import { View, type ViewStyle } from "./view.js";

/** Lines of a prompt that are shown unless everything is expanded. */
const MAX_LINES = 24;
/** What stands in the text for an image that goes with it: a file of the command line, a pasted one. */
const IMAGE_IN_TEXT = /<file name="([^"]*)">\(image\)<\/file>|\[image (#\d+)\]/g;

/** What the user said, and the images that went with it. Long pastes are cut. */
export class UserView extends View {
	readonly #images: ImageLines;

	constructor(
		style: ViewStyle,
		private readonly message: UserMessage,
	) {
		super(style);
		this.#images = new ImageLines(style, imagesOf(message));
	}

	override get whole(): boolean {
		return this.#images.isDrawn;
	}

	protected override draw(width: number): string[] {
		const { theme, expanded, keymap } = this.style;
		// Without colours only a mark tells who speaks.
		const mark = theme.name === "plain" ? "› " : "";
		const text = messageText(this.message).trim();
		const lines = text ? wrapLines(cleanLines(text), width - mark.length) : [];
		const shown = expanded || lines.length <= MAX_LINES + 1 ? lines : lines.slice(0, MAX_LINES);
		const drawn = styled(shown, theme.userText).map((line, row) => (mark ? (row === 0 ? mark : "  ") + line : line));
		if (shown.length < lines.length) {
			drawn.push(
				theme.dim(
					`… ${plural(lines.length - shown.length, "line")} below · ${keymap.keyOf("app.expandTools")} shows all`,
				),
			);
		}
		return [...drawn, ...this.#images.lines(width)].map((line) => clipLine(line, width));
	}
}

function imagesOf(message: UserMessage): NamedImage[] {
	if (typeof message.content === "string") return [];
	const images = message.content.filter((block) => block.type === "image");
	const names = [...messageText(message).matchAll(IMAGE_IN_TEXT)].map(([, path, mark]) =>
		path === undefined ? (mark ?? "") : basename(path),
	);
	// A mark may have been typed, a file pasted: names that may be another image's are none.
	return images.map((image, at) => ({ image, name: names.length === images.length ? (names[at] ?? "") : "" }));
}
