export type { AgentEvent } from "./agent/events.js";
export type { SessionStats } from "./commands/command.js";
export type { SettingsFile } from "./config/settings-schema.js";
export type { BuiltContext, HiddenEntry, Origin, TracedMessage } from "./context/context-message.js";
export { convertToLlm as messageTransformer } from "./context/convert.js";
export { HookError, PiError, type PiErrorCode } from "./errors.js";
export * from "./hooks/index.js";
export type { ToolFactoryApi, ToolModule } from "./hooks/load-tools.js";
export type { HookScreen, ScreenOwner, SessionUI, WidgetContent } from "./hooks/session-ui.js";
export { findModel } from "./models/find-model.js";
export {
	type Dialog,
	type DialogAnswer,
	RpcClient,
	type RpcSpawnOptions,
	type RpcStreams,
} from "./modes/rpc/client.js";
export type { RpcCommand, RpcEvent, RpcResponse, RpcResults, RpcState } from "./modes/rpc/protocol.js";
export { AgentSession } from "./sdk/agent-session.js";
export { type CreateAgentSessionOptions, createAgentSession, type SessionChoice } from "./sdk/create-session.js";
export type { AgentSessionEvent } from "./session/events.js";
export type { PromptResult } from "./session/prompt/prompter.js";
export type { ToolJobs } from "./tools/background-jobs.js";
export type { JobStatus } from "./tools/job-status.js";
export type { TruncationResult } from "./tools/output.js";
export {
	type AnyTool,
	type BashToolDetails,
	defineTool,
	type EditToolDetails,
	type FindToolDetails,
	type GrepToolDetails,
	type JobsToolDetails,
	type LsToolDetails,
	type ReadToolDetails,
	type Tool,
	type ToolContext,
	type ToolResult,
	type WriteToolDetails,
} from "./tools/tool.js";
