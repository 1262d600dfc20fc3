import { type Component, decodeKittyPrintable } from "@mariozechner/pi-tui";
import type { GrantAnswer, GrantRequest } from "../../../hooks/grant-request.js";
import type { Look } from "../../../tui/select-dialog.js";
import { displayPath } from "../../format.js";
import { HANDLE_MEANINGS } from "../../handle-meanings.js";
import { cleanLine, wrapLines } from "../lines.js";
import { choiceLines } from "./panel-lines.js";
import type { TypingGuard } from "./typing-guard.js";

/** What a person is asked about. */
export interface GrantQuestion {
	request: GrantRequest;
	/** For paths. */
	places: { cwd: string; home: string };
	guard: TypingGuard;
}

const ANSWERS: Readonly<Record<string, GrantAnswer>> = { y: "grant", o: "once", n: "no" };
const CHOICES = ["y  grant it", "o  this run only", "n  do not load the hook"];

/** Asks whether a hook gets what it cannot do without. Only the keys that it names answer; cancelling means no. */
export class GrantPanel implements Component {
	constructor(
		private readonly look: Look,
		private readonly question: GrantQuestion,
		private readonly onAnswer: (answer: GrantAnswer) => void,
	) {}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.look;
		const { request, places } = this.question;
		const { file, handle } = request;
		const wrap = (text: string, indent: number) =>
			wrapLines([text], Math.max(1, width - indent - 1)).map((line) => " ".repeat(indent) + line);
		return [
			theme.dim("─".repeat(width)),
			...wrap(`The hook ${cleanLine(file.name)} asks for ${handle}:`, 1).map((line) => theme.bold(line)),
			...wrap(HANDLE_MEANINGS[handle], 3),
			...wrap(cleanLine(displayPath(file.path, places), Number.MAX_SAFE_INTEGER), 3).map((line) => theme.dim(line)),
			...choiceLines(CHOICES, theme, width),
		];
	}

	handleInput(data: string): void {
		if (this.question.guard.isForEditor()) return;
		const key = (decodeKittyPrintable(data) ?? data).toLowerCase();
		const answer = Object.hasOwn(ANSWERS, key) ? ANSWERS[key] : undefined;
		if (this.look.keymap.matches(data, "dialog.cancel")) this.onAnswer("no");
		else if (answer) this.onAnswer(answer);
	}

	invalidate(): void {} // nothing cached
}
