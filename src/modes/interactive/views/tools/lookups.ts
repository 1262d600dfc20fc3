import { basename } from "node:path";
import { displayPath, plural } from "../../../format.js";
import { cleanLine } from "../../lines.js";
import type { ViewStyle } from "../view.js";
import { headOf } from "./output.js";
import {
	detail,
	field,
	numberArg,
	numberDetail,
	quoted,
	resultText,
	type ToolCallState,
	type ToolPresenter,
	textArg,
} from "./presenter.js";

/** `read src/price.ts:1-80 … 80 lines` */
export const readPresenter: ToolPresenter = {
	subject(call, style) {
		const path = shownPath(call, style);
		const window = lineWindow(call);
		if (window) {
			const isComplete = window.first === 1 && window.last === window.total;
			return isComplete ? path : `${path}:${window.first}-${window.last}`;
		}
		const offset = numberArg(call, "offset");
		const limit = numberArg(call, "limit");
		if (offset === undefined && limit === undefined) return path;
		const first = offset ?? 1;
		return `${path}:${first}-${limit === undefined ? "" : first + limit - 1}`;
	},
	status(call) {
		if (!succeeded(call)) return undefined;
		const window = lineWindow(call);
		if (window) return plural(Math.max(0, window.last - window.first + 1), "line");
		const image = call.result?.content.find((block) => block.type === "image");
		return image ? cleanLine(image.mimeType, 40) : "";
	},
	imageName: (call) => basename(textArg(call, "path")),
	body: whenExpanded,
};

/** `grep "round" in src … 4 hits, 3 files` */
export const grepPresenter: ToolPresenter = {
	subject(call, style) {
		const glob = textArg(call, "glob");
		return `${quoted(textArg(call, "pattern"))}${inPath(call, style)}${glob ? ` · ${cleanLine(glob, 60)}` : ""}`;
	},
	status(call) {
		if (!succeeded(call)) return undefined;
		const matches = numberDetail(call, "matches");
		const files = numberDetail(call, "files");
		if (matches === undefined) return "";
		if (matches === 0) return "no hits";
		return files === undefined ? plural(matches, "hit") : `${plural(matches, "hit")}, ${plural(files, "file")}`;
	},
	body: whenExpanded,
};

/** `find *.ts in src … 12 files` */
export const findPresenter: ToolPresenter = {
	subject(call, style) {
		return `${cleanLine(textArg(call, "pattern"), 120)}${inPath(call, style)}`;
	},
	status: (call) => counted(call, "files", "file", "files"),
	body: whenExpanded,
};

/** `ls src … 14 entries` */
export const lsPresenter: ToolPresenter = {
	subject: (call, style) => shownPath(call, style) || ".",
	status: (call) => counted(call, "entries", "entry", "entries"),
	body: whenExpanded,
};

/** The path argument, relative to the working directory or home. */
export function shownPath(call: ToolCallState, style: ViewStyle): string {
	const path = textArg(call, "path");
	const place = call.remote ?? style;
	return cleanLine(place.cwd ? displayPath(path, place) : path, 300);
}

function inPath(call: ToolCallState, style: ViewStyle): string {
	const path = shownPath(call, style);
	return path && path !== "." ? ` in ${path}` : "";
}

function succeeded(call: ToolCallState): boolean {
	return call.phase === "finished" && !call.isError;
}

function counted(call: ToolCallState, field: string, noun: string, nouns: string): string | undefined {
	const count = succeeded(call) ? numberDetail(call, field) : undefined;
	return count === undefined ? undefined : count === 0 ? `no ${nouns}` : plural(count, noun, nouns);
}

function whenExpanded(call: ToolCallState, width: number, style: ViewStyle): string[] {
	return style.expanded && succeeded(call) ? headOf(resultText(call), width, style) : [];
}

function lineWindow(call: ToolCallState): { first: number; last: number; total: unknown } | null {
	const lines = detail(call, "lines");
	const [first, last, total] = ["first", "last", "total"].map((name) => field(lines, name));
	return typeof first === "number" && typeof last === "number" ? { first, last, total } : null;
}
