import type { Component } from "@mariozechner/pi-tui";
import type { GrantAnswer, GrantRequest } from "../../../hooks/handles.js";
import type { GuardOptions } from "../../../tui/answer-guard.js";
import { type DialogStyle, hint } from "../../../tui/dialog-style.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { displayPath } from "../../format.js";
import { HANDLE_MEANINGS } from "../../start-questions.js";
import { cleanLine, wrapLines } from "../lines.js";
import { LetterQuestion } from "./letter-question.js";
import { choiceLines } from "./panel-lines.js";

/** The question of a `GrantPanel`. */
export interface GrantQuestion {
	request: GrantRequest;
	/** Paths are shown relative to these. */
	paths: { cwd: string; home: string };
	guard?: GuardOptions;
}

const CHOICES = [
	hint("grant it", "question.yes"),
	hint("this run only", "question.once"),
	hint("do not load the hook", "question.no"),
];

/** Asks whether to grant a handle that a hook requires. Only the listed keys answer; canceling means no. */
export class GrantPanel extends LetterQuestion implements Component {
	constructor(
		private readonly style: DialogStyle,
		private readonly question: GrantQuestion,
		private readonly onAnswer: (answer: GrantAnswer) => void,
	) {
		const answers = {
			"question.yes": () => onAnswer("grant"),
			"question.once": () => onAnswer("once"),
			"question.no": () => onAnswer("no"),
		};
		super(style.keymap, answers, question.guard ?? {});
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
		this.drew(true);
		const { request, paths } = this.question;
		const { file, handle } = request;
		const wrap = (text: string, indent: number) =>
			wrapLines([text], Math.max(1, width - indent - 1)).map((line) => " ".repeat(indent) + line);
		return [
			theme.dim("─".repeat(width)),
			...wrap(`The hook ${cleanLine(file.name)} asks for ${handle}:`, 1).map((line) => theme.bold(line)),
			...wrap(HANDLE_MEANINGS[handle], 3),
			...wrap(cleanLine(displayPath(file.path, paths), Number.MAX_SAFE_INTEGER), 3).map((line) => theme.dim(line)),
			...choiceLines(CHOICES, this.style, width),
		];
	}

	handleInput(data: string): void {
		if (!this.answer(data) && this.style.keymap.matches(data, "dialog.cancel")) this.onAnswer("no");
	}

	invalidate(): void {} // nothing cached
}

/** Opens a `GrantPanel` instead of the editor. */
export function askGrant(
	request: GrantRequest,
	overlays: Pick<OverlayStack, "open">,
	style: DialogStyle,
	state: Pick<GrantQuestion, "paths" | "guard">,
): Promise<GrantAnswer> {
	return overlays.open<GrantAnswer>((settle) => new GrantPanel(style, { request, ...state }, settle), {
		canceled: "no",
	});
}
