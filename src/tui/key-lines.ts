import { visibleWidth } from "@mariozechner/pi-tui";
import { cutPlain } from "./select-row.js";
import type { Theme } from "./theme.js";

/** What the keys do: `enter select · esc cancel`, on as many lines as it takes; each at most `width` columns. */
export function keyLines(
	keys: readonly (readonly [key: string, does: string])[],
	theme: Pick<Theme, "dim">,
	width: number,
): string[] {
	const lines: string[] = [];
	let line = "";
	for (const [key, does] of keys) {
		const part = `${key} ${does}`.trim();
		if (part === "") continue;
		const longer = line === "" ? part : `${line} · ${part}`;
		if (line !== "" && visibleWidth(longer) + 1 > width) {
			lines.push(line);
			line = part;
		} else line = longer;
	}
	return [...lines, line].map((text) => theme.dim(cutPlain(` ${text}`, width)));
}
