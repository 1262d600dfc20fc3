import { PiError } from "../../errors.js";
import { displayPath } from "../../tools/path.js";
import type { SlashCommand } from "../command.js";
import { describeChanges, promptOfComments } from "../describe-changes.js";
import type { ReviewScope } from "../review.js";
import { report } from "./report.js";

const TURN = "turn";

/** `/diff [turn]`: reviews the files that tools changed in the session, or for its last prompt. */
export const diffCommand: SlashCommand = {
	name: "diff",
	argumentHint: `[${TURN}]`,
	description: "Review what tools changed: keep, revert, comment",
	complete: (prefix) => [TURN].filter((word) => word.startsWith(prefix)).map((value) => ({ value })),
	async run(context) {
		const { session, shell, signal, rest } = context;
		const scope = readScope(rest);
		const review = session.reviewFiles();
		const shownPath = (path: string) => displayPath(session.cwd, path);
		if (!shell?.openDiff) {
			const title = scope === "turn" ? "Changes of the last prompt" : "Changes of this session";
			return report(context, title, describeChanges(await review.read(scope), shownPath));
		}
		const comments = await shell.openDiff(review, scope, signal);
		review.end();
		if (comments.length > 0) shell.setEditorText(promptOfComments(comments, shownPath));
		return undefined;
	},
};

function readScope(text: string): ReviewScope {
	if (text === "") return "session";
	if (text === TURN) return "turn";
	throw new PiError("bad_arguments", `/diff ${text}: expected ${TURN} or no argument`, {
		hint: `/diff ${TURN} shows the changes of the last prompt`,
	});
}
