import type { LiveList } from "../../../commands/pickers.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { fuzzyFilter } from "../../../tui/fuzzy.js";
import { SelectDialog } from "../../../tui/select-dialog.js";

/** Time after which an open list reads its rows again. */
const REFRESH_MS = 500;

export interface LiveListOptions {
	/** Aborted when the list closes. */
	closed: AbortSignal;
	requestRender(): void;
	/** @param value of the chosen row; null when canceled */
	onClose(value: string | null): void;
}

/** Lets the user choose a row of a list that changes while it is open. The same row stays selected. */
export function createLiveList(
	style: DialogStyle,
	{ title, rows }: LiveList,
	{ closed, requestRender, onClose }: LiveListOptions,
): SelectDialog<string> {
	const list = new SelectDialog<string>(style, {
		title,
		items: (filter) => fuzzyFilter(rows(), filter, ({ label, description = "" }) => `${label} ${description}`),
		onSelect: onClose,
		onCancel: () => onClose(null),
	});
	const timer = setInterval(() => {
		list.refresh();
		requestRender();
	}, REFRESH_MS);
	closed.addEventListener("abort", () => clearInterval(timer), { once: true });
	return list;
}
