export { agentDir } from "../config/paths.js";
export type {
	PermissionAction,
	PermissionRule,
	PermissionScope,
	PermissionSettings,
} from "../config/permission-rules.js";
export { isWellFormed } from "../context/check.js";
export type { ContextMessage } from "../context/context-message.js";
export { convertToLlm } from "../context/convert.js";
export type { ContextFacts } from "../context/facts.js";
export { keepChanges, type RangedRequest } from "../context/keep-changes.js";
export { type ApplyRangesOptions, applyRanges, type SummaryRange } from "../context/ranges.js";
export { type ActiveCompaction, activeCompaction, firstKeptEntry } from "../context/replacement.js";
export { type SerializeOptions, serializeConversation } from "../context/serialize.js";
export { estimateTokens } from "../context/tokens.js";
export type * from "../log/entry.js";
export {
	isCompactionEntry,
	isContextUndoEntry,
	isMessageEntry,
	isSessionHeader,
	isSystemItemEntry,
	isUserMessageEntry,
	messageText,
} from "../log/entry.js";
export { changedFiles } from "../log/file-changes.js";
export { promptText } from "../log/prompt-text.js";
export { groupTurns, type PromptTurn } from "../log/prompt-turns.js";
export { proxyOf } from "../network/network.js";
export type { ProxyServer } from "../network/proxy-rules.js";
export type { PageText } from "../pages/convert-page.js";
export { readPage } from "../pages/read-page.js";
export { type FrontMatter, parseMarkdown } from "../resources/front-matter.js";
export type * from "../tools/machine/machine.js";
export type * from "../tools/machine/shell-engine.js";
export { quoteForShell } from "../tools/machine/shell-engine.js";
export { findDanger, type Span } from "../util/dangerous-commands.js";
export { withFileLock } from "../util/file-lock.js";
export { describeInput } from "./describe-input.js";
export {
	isBashToolResult,
	isEditToolResult,
	isFindToolResult,
	isGrepToolResult,
	isLsToolResult,
	isReadToolResult,
	isWriteToolResult,
} from "./tool-results.js";
export type * from "./types.js";
