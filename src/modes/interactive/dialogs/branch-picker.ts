import type { BranchRow } from "../../../commands/pickers.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { type SelectColumn, SelectDialog } from "../../../tui/select-dialog.js";
import { formatAge } from "../../../util/age.js";
import { formatTokens } from "../../format.js";

const COLUMNS: readonly SelectColumn[] = [
	{ align: "right", rank: 2 },
	{ align: "right", rank: 3 },
	{ align: "right", rank: 1 },
];

/** Lists the user's messages, latest first, with the gutter's sign and the messages and tokens that a branch leaves out. */
export function createBranchPicker(
	style: DialogStyle,
	rows: readonly BranchRow[],
	onClose: (entryIndex: number | null) => void,
	now = Date.now(),
): SelectDialog<number> {
	return new SelectDialog<number>(style, {
		title: "Branch from which message?",
		items: rows.toReversed().map(({ entryIndex, text, at, messagesAfter, tokensAfter, isInContext }) => ({
			label: text.trim(),
			value: entryIndex,
			// Read for each frame, as the theme may change.
			get sign() {
				return isInContext ? style.theme.gutterIn("▎") : style.theme.gutterOut("┆");
			},
			isDimmed: !isInContext,
			fields: [`${messagesAfter} after`, formatTokens(tokensAfter), formatAge(at, now)],
		})),
		columns: COLUMNS,
		isTall: true,
		verb: "branch",
		onSelect: onClose,
		onCancel: () => onClose(null),
	});
}
