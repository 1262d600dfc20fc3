import type { Markdown } from "@mariozechner/pi-tui";
import type { InlineToken } from "../links.js";
import { assertMembers } from "./members.js";

/** A list, as pi-tui's parser gives it. */
export interface ListToken {
	readonly items: readonly { task?: unknown; checked?: unknown; tokens?: readonly InlineToken[] }[];
}

/** The private members of `Markdown`. */
interface MarkdownMembers {
	renderToken(token: { type: string }, width: number, ...rest: unknown[]): string[];
	renderInlineTokens(tokens: readonly InlineToken[], ...rest: unknown[]): string;
	renderList(list: ListToken, ...rest: unknown[]): string[];
}

/** Changes to how pi-tui draws Markdown. */
export interface MarkdownOverrides {
	/** @returns the lines of a block instead of `lines`, at most `width` columns each */
	block(type: string, lines: string[], width: number): string[];
	/** @returns the tokens to draw within a line */
	inline(tokens: readonly InlineToken[]): readonly InlineToken[];
	/** @returns the list to draw */
	list(list: ListToken): ListToken;
}

/** Applies overrides to one component. @throws TypeError in another version of pi-tui */
export function overrideMarkdown(component: Markdown, overrides: MarkdownOverrides): void {
	const target: object = component;
	assertMembers<MarkdownMembers>(target, "Markdown", {
		renderToken: "function",
		renderInlineTokens: "function",
		renderList: "function",
	});
	const { renderToken, renderInlineTokens, renderList } = target;
	target.renderToken = (token, width, ...rest) =>
		overrides.block(token.type, renderToken.call(target, token, width, ...rest), width);
	target.renderInlineTokens = (tokens, ...rest) => renderInlineTokens.call(target, overrides.inline(tokens), ...rest);
	target.renderList = (list, ...rest) => renderList.call(target, overrides.list(list), ...rest);
}
