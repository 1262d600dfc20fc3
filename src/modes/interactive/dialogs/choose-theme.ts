import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { Look } from "../../../tui/select-dialog.js";
import type { ThemeController } from "../theme-controller.js";
import { ThemePicker } from "./theme-picker.js";

/** Lets the user choose a theme, each on the screen as it is selected. @returns null when cancelled, as before then */
export async function chooseTheme(
	themes: ThemeController,
	{ overlays, look }: { overlays: Pick<OverlayStack, "open">; look: Look },
	signal: AbortSignal,
): Promise<string | null> {
	const before = themes.current;
	const list = themes.list();
	const items = list.map(({ name, description }) => ({ label: name, value: name, description }));
	const chosen = await overlays.open<string | null>(
		(settle) =>
			new ThemePicker(look, {
				themes: items,
				selected: Math.max(
					0,
					list.findIndex(({ name }) => name === before),
				),
				onMove: (name) => {
					try {
						themes.show(name);
					} catch {
						// Its file is gone since the list was made: the colours stay.
					}
				},
				onSelect: settle,
				onCancel: () => settle(null),
			}),
		{ signal, cancelled: null },
	);
	if (chosen === null && themes.current !== before) themes.show(before);
	return chosen;
}
