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

const isResultOf =
	<E extends ToolResultEvent>(toolName: E["toolName"]) =>
	(event: ToolResultEvent): event is E =>
		event.toolName === toolName;

/** Narrows `event.details` to those of the bash tool. */
export const isBashToolResult = isResultOf<BashToolResultEvent>("bash");
/** Narrows `event.details` to those of the read tool. */
export const isReadToolResult = isResultOf<ReadToolResultEvent>("read");
/** Narrows `event.details` to those of the edit tool. */
export const isEditToolResult = isResultOf<EditToolResultEvent>("edit");
/** Narrows `event.details` to those of the write tool. */
export const isWriteToolResult = isResultOf<WriteToolResultEvent>("write");
/** Narrows `event.details` to those of the grep tool. */
export const isGrepToolResult = isResultOf<GrepToolResultEvent>("grep");
/** Narrows `event.details` to those of the find tool. */
export const isFindToolResult = isResultOf<FindToolResultEvent>("find");
/** Narrows `event.details` to those of the ls tool. */
export const isLsToolResult = isResultOf<LsToolResultEvent>("ls");
