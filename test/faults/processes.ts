import { readdirSync, readFileSync } from "node:fs";

/** Only Linux lists the arguments of all programs as files. Tests that need the list are skipped on other systems. */
export const LISTS_PROGRAMS = process.platform === "linux";

/** Ids of the running programs with an argument that contains a text. */
export function running(text: string): number[] {
	const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
	return ids.map(Number).filter((pid) => {
		try {
			return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
		} catch {
			return false; // it has ended
		}
	});
}
