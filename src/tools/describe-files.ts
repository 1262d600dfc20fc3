import { plural } from "../util/format-amounts.js";
import {
	type DescribableCall,
	detail,
	field,
	numberArg,
	numberDetail,
	oneLine,
	pathWords,
	type ToolWords,
} from "./description.js";

/** `src/price.ts:1-80`, `80 lines` */
export const readWords: ToolWords = {
	kind: "read",
	verb: "Read",
	subject(call, wording) {
		const path = pathWords(call, wording);
		const window = lineWindow(call);
		if (window) {
			const isComplete = window.first === 1 && window.last === window.total;
			return isComplete ? path : `${path}:${window.first}-${window.last}`;
		}
		const offset = firstLine(call);
		const limit = numberArg(call, "limit");
		if (offset === undefined && limit === undefined) return path;
		const first = offset ?? 1;
		return `${path}:${first}-${limit === undefined ? "" : first + limit - 1}`;
	},
	line: firstLine,
	status(call) {
		const window = lineWindow(call);
		if (window) return [plural(Math.max(0, window.last - window.first + 1), "line")];
		const image = call.result?.content.find((block) => block.type === "image");
		return image ? [oneLine(image.mimeType, 40)] : [];
	},
};

/** `src/price.ts`, `+1 −1` */
export const editWords: ToolWords = {
	kind: "edit",
	verb: "Edit",
	subject: pathWords,
	status(call) {
		const changes = changeCount(call);
		return changes === null ? [] : [changes];
	},
};

/** `src/tax.ts`; `created` and `40 lines`, or `+1 −1` when it replaced a file that pi could compare */
export const writeWords: ToolWords = {
	kind: "edit",
	verb: "Write",
	subject: pathWords,
	status(call) {
		const changes = changeCount(call);
		if (changes !== null) return [changes === "+0 −0" ? "unchanged" : changes];
		const lines = numberDetail(call, "lines");
		const how = detail(call, "created") === true ? "created" : "replaced";
		return lines === undefined ? [how] : [how, plural(lines, "line")];
	},
};

/** The argument `offset`. Models that count from 0 mean the first line. */
function firstLine(call: DescribableCall): number | undefined {
	const offset = numberArg(call, "offset");
	return offset === undefined ? undefined : Math.max(1, offset);
}

/** The numbers of added and removed lines; null if the tool did not compare. */
function changeCount(call: DescribableCall): string | null {
	const added = numberDetail(call, "added");
	const removed = numberDetail(call, "removed");
	return added === undefined || removed === undefined ? null : `+${added} −${removed}`;
}

function lineWindow(call: DescribableCall): { first: number; last: number; total: unknown } | null {
	const lines = detail(call, "lines");
	const [first, last, total] = ["first", "last", "total"].map((name) => field(lines, name));
	return typeof first === "number" && typeof last === "number" ? { first, last, total } : null;
}
