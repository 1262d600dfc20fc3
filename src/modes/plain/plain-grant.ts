import type { GrantAnswer, GrantRequest } from "../../hooks/handles.js";
import { HANDLE_MEANINGS } from "../start-questions.js";
import { plainLine } from "./plain-output.js";
import type { Questions } from "./questions.js";

const ANSWERS: ReadonlyMap<string, GrantAnswer> = new Map([
	["y", "grant"],
	["o", "once"],
	["n", "no"],
	["", "no"],
]);
/** Longer than any path: nothing is cut where someone decides by it. */
const WHOLE = 100_000;

/** Asks whether a hook gets a handle that it requires. Cancelling, and an empty line, mean no. */
export function askPlainGrant({ file, handle }: GrantRequest, questions: Questions): Promise<GrantAnswer> {
	return questions.ask<GrantAnswer>({
		lines: [
			`The hook ${plainLine(file.name)} asks for ${handle}: ${HANDLE_MEANINGS[handle]}`,
			`  ${plainLine(file.path, WHOLE)}`,
			"  y: grant it. o: this run only. n: do not load the hook",
		],
		mark: "y, o or n, empty is no: ",
		read: (line) => {
			const value = ANSWERS.get(line.trim().toLowerCase());
			return value ? { value } : { retry: ["Answer y, o or n"] };
		},
		cancelled: "no",
	});
}
