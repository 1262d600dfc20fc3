import { plural } from "../util/format-amounts.js";
import {
	type DescribableCall,
	numberDetail,
	oneLine,
	pathWords,
	type ToolWords,
	textArg,
	type Wording,
} from "./description.js";

const MAX_PATTERN = 120;

/** `"round" in src · *.ts`, `4 hits, 3 files` */
export const grepWords: ToolWords = {
	kind: "search",
	verb: "Search",
	subject(call, wording) {
		const { pattern } = call.args;
		const glob = textArg(call, "glob");
		// Without the quotes of an empty pattern while it is still to come.
		const quoted = typeof pattern === "string" ? `"${oneLine(pattern, MAX_PATTERN, wording)}"` : "";
		return `${quoted}${inPath(call, wording)}${glob ? ` · ${oneLine(glob, 60, wording)}` : ""}`.trimStart();
	},
	status(call) {
		const matches = numberDetail(call, "matches");
		const files = numberDetail(call, "files");
		if (matches === undefined) return [];
		if (matches === 0) return ["no hits"];
		return [files === undefined ? plural(matches, "hit") : `${plural(matches, "hit")}, ${plural(files, "file")}`];
	},
};

/** `*.ts in src`, `12 files` */
export const findWords: ToolWords = {
	kind: "search",
	verb: "Find",
	subject: (call, wording) => oneLine(textArg(call, "pattern"), MAX_PATTERN, wording) + inPath(call, wording),
	status: (call) => counted(call, "files", "file", "files"),
};

/** `src`, `14 entries` */
export const lsWords: ToolWords = {
	kind: "search",
	verb: "List",
	subject: (call, wording) => pathWords(call, wording) || ".",
	status: (call) => counted(call, "entries", "entry", "entries"),
};

function inPath(call: DescribableCall, wording: Wording): string {
	const path = pathWords(call, wording);
	return path && path !== "." ? ` in ${path}` : "";
}

function counted(call: DescribableCall, name: string, noun: string, nouns: string): string[] {
	const count = numberDetail(call, name);
	return count === undefined ? [] : [count === 0 ? `no ${nouns}` : plural(count, noun, nouns)];
}
