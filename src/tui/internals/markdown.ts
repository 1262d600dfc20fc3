import type { Markdown } from "@mariozechner/pi-tui";
import type { Token } from "marked";
import type { InlineToken } from "../links.js";
import { assertMembers } from "./members.js";

/** Style of the text around a token, as pi-tui passes it on; undefined outside quotes. */
type Surroundings = { stylePrefix: string } | undefined;

/** The private members of `Markdown`. */
interface MarkdownMembers {
	renderToken(token: Token, width: number, nextType?: string, surroundings?: Surroundings): string[];
	renderInlineTokens(tokens: readonly InlineToken[], surroundings?: Surroundings): string;
}

/** Draws the parts of one block in the style that surrounds it. */
export interface BlockDrawing {
	/** @returns the lines of a block as pi-tui draws it, with a blank line at the end if the next block needs it */
	original(token: Token, width: number): string[];
	/** @returns the lines of a nested block, with the overrides and without a blank line at the end */
	nested(token: Token, width: number): string[];
	/** @returns styled text; may contain line ends */
	inline(tokens: readonly InlineToken[]): string;
	/** Whether a blank line must follow the block. */
	readonly gapAfter: boolean;
}

/** Changes to how pi-tui draws Markdown. */
export interface MarkdownOverrides {
	/** @returns the lines of a block, at most `width` columns each */
	block(token: Token, width: number, drawing: BlockDrawing): string[];
	/** @returns the tokens to draw within a line */
	inline(tokens: readonly InlineToken[]): readonly InlineToken[];
}

/** Applies overrides to one component. @throws TypeError in another version of pi-tui */
export function overrideMarkdown(component: Markdown, overrides: MarkdownOverrides): void {
	const target: object = component;
	assertMembers<MarkdownMembers>(target, "Markdown", { renderToken: "function", renderInlineTokens: "function" });
	const { renderToken, renderInlineTokens } = target;
	target.renderToken = (block, width, nextType, surroundings) =>
		overrides.block(block, width, {
			original: (token, room) => renderToken.call(target, token, room, nextType, surroundings),
			nested: (token, room) => target.renderToken(token, room, undefined, surroundings),
			inline: (tokens) => target.renderInlineTokens(tokens, surroundings),
			gapAfter: nextType !== undefined && nextType !== "space",
		});
	target.renderInlineTokens = (tokens, surroundings) =>
		renderInlineTokens.call(target, overrides.inline(tokens), surroundings);
}
