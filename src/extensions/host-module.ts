import { agentDir } from "../config/paths.js";
import { convertToLlm, estimateTokens, serializeConversation } from "../hooks/index.js";
import { PLAIN_THEME } from "../hooks/plain-theme.js";
import {
	formatBytes,
	OUTPUT_LIMITS,
	type OutputLimits,
	type Truncated,
	truncateHead,
	truncateTail,
} from "../tools/output.js";
import { withRefusals } from "./with-refusals.js";

/** A horizontal line as wide as the screen. */
class DynamicBorder {
	constructor(private readonly color: (text: string) => string = (text) => text) {}

	invalidate(): void {}

	render(width: number): string[] {
		return [this.color("─".repeat(Math.max(1, width)))];
	}
}

interface ToolEvent {
	toolName?: unknown;
}

const isResultOf = (name: string) => (event: ToolEvent) => event.toolName === name;
const cut = ({ text, truncation }: Truncated) => ({ ...truncation, content: text });
const limits = (options: Partial<OutputLimits> = {}): OutputLimits => ({ ...OUTPUT_LIMITS, ...options });

/** What extensions import from the package of the coding agent. Names that are missing throw when they are used. */
export const CODING_AGENT: object = withRefusals("@earendil-works/pi-coding-agent", {
	CONFIG_DIR_NAME: ".pi",
	DEFAULT_MAX_BYTES: OUTPUT_LIMITS.maxBytes,
	DEFAULT_MAX_LINES: OUTPUT_LIMITS.maxLines,
	DynamicBorder,
	convertToLlm,
	defineTool: <T>(tool: T): T => tool,
	estimateTokens,
	formatSize: formatBytes,
	getAgentDir: () => agentDir(),
	/** Without styles: a module has no theme, and `theme` of the API has. */
	getMarkdownTheme: () => PLAIN_THEME.markdown,
	getSelectListTheme: () => PLAIN_THEME.selectList,
	isToolCallEventType: (name: string, event: ToolEvent) => event.toolName === name,
	isBashToolResult: isResultOf("bash"),
	isEditToolResult: isResultOf("edit"),
	isFindToolResult: isResultOf("find"),
	isGrepToolResult: isResultOf("grep"),
	isLsToolResult: isResultOf("ls"),
	isReadToolResult: isResultOf("read"),
	isWriteToolResult: isResultOf("write"),
	serializeConversation,
	truncateHead: (text: string, options?: Partial<OutputLimits>) => cut(truncateHead(text, limits(options))),
	truncateTail: (text: string, options?: Partial<OutputLimits>) => cut(truncateTail(text, limits(options))),
});

/** The package of the agent loop, whose types extensions import: pi has a loop of its own. */
export const AGENT_CORE: object = withRefusals("@earendil-works/pi-agent-core", {});
