import { revealInvisible } from "./reveal.js";

/** Entities of visible characters that occur in prose: https://html.spec.whatwg.org/multipage/named-characters.html */
const NAMED: ReadonlyMap<string, string> = new Map(
	Object.entries({
		...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", deg: "°" },
		...{ plusmn: "±", middot: "·", times: "×", divide: "÷", euro: "€", laquo: "«", raquo: "»" },
		...{ ndash: "–", mdash: "—", hellip: "…", bull: "•", larr: "←", rarr: "→" },
	}),
);
const ENTITY = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,6}));/gi;

/** Replaces entities in the text of Markdown. Invisible characters are shown by name; unknown entities stay as written. */
export function decodeEntities(text: string): string {
	return text.replace(ENTITY, (written, hex?: string, decimal?: string, name?: string) => {
		if (name !== undefined) return NAMED.get(name) ?? written;
		const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
		return code <= 0x10ffff ? revealInvisible(String.fromCodePoint(code)) : written;
	});
}
