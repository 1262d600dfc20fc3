import { isRecord } from "../util/is-record.js";
import {
	isIndex,
	type OwnPreamble,
	type PartReference,
	type PromptSection,
	type RecordedPreamble,
	type ToolInfo,
} from "./entry.js";

/** Validates the record of a system prompt and its tools. @returns null for an invalid one */
export function readPreamble(value: unknown): RecordedPreamble | null {
	if (!isRecord(value)) return null;
	const { reply, parts, core, sent, generated } = value;
	if (isIndex(reply)) return { reply };
	if (!Array.isArray(parts) || !parts.every(isPart) || !isReferences(core)) return null;
	if (sent !== undefined && !isReferences(sent)) return null;
	if (generated !== undefined && !isGenerated(generated)) return null;
	return {
		parts,
		core,
		...(sent !== undefined && { sent }),
		...(generated !== undefined && { generated }),
	};
}

function isPart(value: unknown): value is PromptSection | ToolInfo {
	if (!isRecord(value)) return false;
	const { id, text, name, description, parameters, promptLine, guidelines = [], hook } = value;
	if (typeof id === "string") return typeof text === "string";
	return (
		typeof name === "string" &&
		typeof description === "string" &&
		isRecord(parameters) &&
		[promptLine, hook].every((field) => field === undefined || typeof field === "string") &&
		Array.isArray(guidelines) &&
		guidelines.every((line) => typeof line === "string")
	);
}

function isReferences(value: unknown): value is PartReference[] {
	return Array.isArray(value) && value.every(isReference);
}

function isGenerated(value: unknown): value is NonNullable<OwnPreamble["generated"]> {
	return isRecord(value) && Object.values(value).every((item) => item === null || isReference(item));
}

function isReference(value: unknown): value is PartReference {
	return isIndex(value) || (Array.isArray(value) && value.length === 2 && value.every(isIndex));
}
