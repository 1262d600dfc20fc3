import type {
	BashToolResultEvent,
	EditToolResultEvent,
	FindToolResultEvent,
	GrepToolResultEvent,
	LsToolResultEvent,
	ReadToolResultEvent,
	ToolResultEvent,
	WriteToolResultEvent,
} from "./types.js";

/** Narrows `event.details` to those of the bash tool. */
export function isBashToolResult(event: ToolResultEvent): event is BashToolResultEvent {
	return event.toolName === "bash";
}

/** Narrows `event.details` to those of the read tool. */
export function isReadToolResult(event: ToolResultEvent): event is ReadToolResultEvent {
	return event.toolName === "read";
}

/** Narrows `event.details` to those of the edit tool. */
export function isEditToolResult(event: ToolResultEvent): event is EditToolResultEvent {
	return event.toolName === "edit";
}

/** Narrows `event.details` to those of the write tool. */
export function isWriteToolResult(event: ToolResultEvent): event is WriteToolResultEvent {
	return event.toolName === "write";
}

/** Narrows `event.details` to those of the grep tool. */
export function isGrepToolResult(event: ToolResultEvent): event is GrepToolResultEvent {
	return event.toolName === "grep";
}

/** Narrows `event.details` to those of the find tool. */
export function isFindToolResult(event: ToolResultEvent): event is FindToolResultEvent {
	return event.toolName === "find";
}

/** Narrows `event.details` to those of the ls tool. */
export function isLsToolResult(event: ToolResultEvent): event is LsToolResultEvent {
	return event.toolName === "ls";
}
