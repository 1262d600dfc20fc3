import type { ListPage } from "../../../commands/pickers.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { type SelectColumn, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";

const COLUMNS: readonly SelectColumn[] = [
	{ align: "left", rank: 1, grows: true },
	{ align: "right", rank: 2 },
];

/** Shows rows to read and filter. @param onClose receives the text that the chosen row inserts, or null */
export function createListPage(
	style: DialogStyle,
	{ title, rows }: ListPage,
	onClose: (insert: string | null) => void,
): SelectDialog<string | null> {
	const inserts = rows.some(({ insert }) => insert !== undefined);
	return new SelectDialog<string | null>(style, {
		title,
		items: rows.map(({ label, text, origin = "", insert = null }) => ({
			label,
			value: insert,
			fields: [text, origin],
		})),
		columns: COLUMNS,
		isTall: true,
		verb: inserts ? "insert" : "",
		...(inserts ? { details: ({ fields = [] }: SelectItem<string | null>) => fields[0] ?? "" } : {}),
		onSelect: onClose,
		onCancel: () => onClose(null),
	});
}
