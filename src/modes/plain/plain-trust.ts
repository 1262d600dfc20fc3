import { describeError } from "../../errors.js";
import type { GrantAnswer, GrantRequest } from "../../hooks/handles.js";
import type { TrustAnswer } from "../../trust/gate.js";
import type { ProjectFile, ProjectSet } from "../../trust/store.js";
import { type CodeLine, codeLines, compareWithTrusted, isPlainFile } from "../code-lines.js";
import { HANDLE_MEANINGS } from "../start-questions.js";
import { type PlainOutput, plainLine } from "./plain-output.js";
import type { Questions } from "./questions.js";

const TRUST_ANSWERS = new Map<string, TrustAnswer>(
	Object.entries({ y: "trust", o: "once", n: "no", "": "no" } as const),
);
const GRANT_ANSWERS = new Map<string, GrantAnswer>(
	Object.entries({ y: "grant", o: "once", n: "no", "": "no" } as const),
);
/** Longer than any path: paths that the user decides about are not truncated. */
const UNTRUNCATED = 100_000;

/** Asks whether a hook gets a handle that it requires. Canceling and an empty line mean no. */
export function askPlainGrant({ file, handle }: GrantRequest, questions: Questions): Promise<GrantAnswer> {
	return questions.ask<GrantAnswer>({
		lines: [
			`The hook ${plainLine(file.name)} asks for ${handle}: ${HANDLE_MEANINGS[handle]}`,
			`  ${plainLine(file.path, UNTRUNCATED)}`,
			"  y: grant it. o: for this run only. n: do not load the hook",
		],
		mark: "y, o or n, empty is no: ",
		read: (line) => {
			const value = GRANT_ANSWERS.get(line.trim().toLowerCase());
			return value ? { value } : { retry: ["Answer y, o or n"] };
		},
		allows: (answer) => answer !== "no",
		canceled: "no",
	});
}

/** Asks whether the project's code may run. Canceling and an empty line mean no. */
export function askPlainTrust(set: ProjectSet, questions: Questions, output: PlainOutput): Promise<TrustAnswer> {
	const files = [...set.files].sort((a, b) => Number(a.state === "trusted") - Number(b.state === "trusted"));
	return questions.ask<TrustAnswer>({
		lines: [
			...introduce(set),
			...files.map((file) => `  ${describeFile(file, set)}`),
			...set.unresolved.map(
				({ from, specifier, reason }) =>
					`  ${plainLine(from)} also loads ${plainLine(specifier)}: ${plainLine(reason)}`,
			),
			"It can do anything you can. Run it?",
			"  y: trust this version of the code. o: for this run only. v: show code and changes. n: no",
		],
		mark: "y, o, v or n, empty is no: ",
		read: (line) => {
			const key = line.trim().toLowerCase();
			const answer = TRUST_ANSWERS.get(key);
			if (answer) return { value: answer };
			if (key !== "v") return { retry: ["Answer y, o, v or n"] };
			showCode(set, output).catch((error: unknown) => output.say(`Error: ${describeError(error)}`));
			return { retry: [] };
		},
		allows: (answer) => answer !== "no",
		canceled: "no",
	});
}

function introduce({ package: own }: ProjectSet): string[] {
	if (!own) return ["This project has code that pi would run:"];
	const notes = own.notes.map((note) => `  ${plainLine(note, UNTRUNCATED)}`);
	return [`The package ${plainLine(own.name, UNTRUNCATED)} has code that pi would run:`, ...notes];
}

function describeFile(file: ProjectFile, set: ProjectSet): string {
	const { title, rel, realPath, size, sha256, state } = file;
	const { trustedAt } = set;
	const link = isPlainFile(file, set) ? "" : `, a link to ${plainLine(realPath, UNTRUNCATED)}`;
	const since = state === "changed" && trustedAt ? `changed since ${trustedAt.slice(0, 10)}` : state;
	return `${plainLine(title ?? rel, UNTRUNCATED)}${link}, ${size} bytes, ${sha256.slice(0, 12)}, ${since}`;
}

async function showCode(set: ProjectSet, output: PlainOutput): Promise<void> {
	const fresh = set.files.filter(({ state }) => state !== "trusted");
	for (const file of fresh.length > 0 ? fresh : set.files) {
		const change = await compareWithTrusted(file);
		output.say(`${describeFile(file, set)}${change ? `, ${change.added} added, ${change.removed} removed` : ""}:`);
		for (const line of change?.lines ?? codeLines(file.bytes.toString("utf8"))) output.say(describeLine(line));
	}
}

function describeLine({ kind, mark, text }: CodeLine): string {
	if (kind === "added") return `  added ${mark.replace("+", "")}: ${text}`;
	if (kind === "removed") return `  removed: ${text}`;
	return `  ${mark.trim()} ${text}`;
}
