import type { Component } from "@mariozechner/pi-tui";
import type { GrantAnswer, GrantRequest } from "../../../hooks/grant-request.js";
import type { DialogStyle, KeyHint } from "../../../tui/dialog-style.js";
import type { KeyAction } from "../../../tui/key-table.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { displayPath } from "../../format.js";
import { HANDLE_MEANINGS } from "../../start-questions.js";
import { cleanLine, wrapLines } from "../lines.js";
import { choiceLines } from "./panel-lines.js";
import type { TypingGuard } from "./typing-guard.js";

/** What a person is asked about. */
export interface GrantQuestion {
	request: GrantRequest;
	/** For paths. */
	paths: { cwd: string; home: string };
	guard: TypingGuard;
}

const ANSWERS = [
	["question.yes", "grant"],
	["question.once", "once"],
	["question.no", "no"],
	["dialog.cancel", "no"],
] as const satisfies readonly (readonly [KeyAction, GrantAnswer])[];
const CHOICES: readonly KeyHint[] = [
	["question.yes", "grant it"],
	["question.once", "this run only"],
	["question.no", "do not load the hook"],
];

/** Asks whether a hook gets what it cannot do without. Only the keys that it names answer; cancelling means no. */
export class GrantPanel implements Component {
	constructor(
		private readonly style: DialogStyle,
		private readonly question: GrantQuestion,
		private readonly onAnswer: (answer: GrantAnswer) => void,
	) {}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
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
		if (this.question.guard.isForEditor()) return;
		const answer = ANSWERS.find(([action]) => this.style.keymap.matches(data, action));
		if (answer) this.onAnswer(answer[1]);
	}

	invalidate(): void {} // nothing cached
}

/** Asks, in the editor's place, whether a hook gets a handle that it requires. Cancelling means no. */
export function askGrant(
	request: GrantRequest,
	overlays: Pick<OverlayStack, "open">,
	style: DialogStyle,
	state: Pick<GrantQuestion, "paths" | "guard">,
): Promise<GrantAnswer> {
	return overlays.open<GrantAnswer>((settle) => new GrantPanel(style, { request, ...state }, settle), {
		cancelled: "no",
	});
}
