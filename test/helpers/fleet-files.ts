import { readFileSync } from "node:fs";

const page = readFileSync(new URL("../../docs/fleet.md", import.meta.url), "utf8");

/** A file that docs/fleet.md shows: the text of the code block with its name. */
export function fleetFile(name: string): string {
	for (const [, info = "", code = ""] of page.matchAll(/^```(\S+ \S+)\n([\s\S]*?)^```$/gm)) {
		if (info.split(" ")[1] === name) return code;
	}
	throw new Error(`docs/fleet.md has no file ${name}`);
}
