import type { CommandTools } from "../../../commands/pickers.js";
import type { DialogStyle } from "../../../tui/dialog-style.js";
import { fuzzyFilter } from "../../../tui/fuzzy.js";
import { type SelectColumn, SelectDialog, type SelectItem } from "../../../tui/select-dialog.js";
import { displayPath } from "../../format.js";

const COLUMNS: readonly SelectColumn[] = [
	{ align: "left", rank: 2 },
	{ align: "right", rank: 1 },
];

/** Lists the tools of the session. Space and Enter turn a tool on or off, from the next request on. */
export function createToolsPicker(
	style: DialogStyle,
	{ tools, paths, onClose }: { tools: CommandTools; paths: { cwd: string; home: string }; onClose(): void },
): SelectDialog<string> {
	const toggle = (name: string | undefined) => {
		const tool = tools.list().find((candidate) => candidate.name === name);
		if (tool) tools.setEnabled(tool.name, !tool.isOn);
		picker.refresh();
	};
	const picker = new SelectDialog<string>(style, {
		title: "Tools, for this session",
		items: (filter) =>
			fuzzyFilter(tools.list(), filter, ({ name }) => name).map(({ name, source, isOn }): SelectItem<string> => {
				const from = source === "built-in" ? source : displayPath(source, paths);
				return { label: name, value: name, isDimmed: !isOn, fields: [from, isOn ? "on" : "off"] };
			}),
		columns: COLUMNS,
		isTall: true,
		verb: "",
		empty: "this session has no tools",
		details({ value }) {
			const tool = tools.list().find(({ name }) => name === value);
			return [...(tool?.replacesBuiltin ? ["Replaces the built-in tool"] : []), tool?.description ?? ""].join(" · ");
		},
		actions: [{ key: "dialog.toggle", label: "on / off", run: (item) => toggle(item?.value) }],
		onSelect: toggle,
		onCancel: onClose,
	});
	return picker;
}
