import { agentDir } from "../config/paths.js";
import { convertToLlm, estimateTokens, serializeConversation } from "../hooks/index.js";
import { loadTerminalLibrary } from "../hooks/shared-modules.js";
import {
	formatBytes,
	OUTPUT_LIMITS,
	type OutputLimits,
	type Truncated,
	truncateHead,
	truncateTail,
} from "../tools/output.js";
import { packageVersion } from "../util/package-root.js";
import { currentTheme } from "./running-code.js";
import { withRefusals } from "./with-refusals.js";

/** A horizontal line as wide as the screen. */
class DynamicBorder {
	constructor(private readonly color: (text: string) => string = (text) => currentTheme().dim(text)) {}

	invalidate(): void {}

	render(width: number): string[] {
		return [this.color("─".repeat(Math.max(1, width)))];
	}
}

interface ToolEvent {
	toolName?: unknown;
}

const isResultOf = (name: string) => (event: ToolEvent) => event.toolName === name;
const limits = (options: Partial<OutputLimits> = {}): OutputLimits => ({ ...OUTPUT_LIMITS, ...options });

/** A cut text as extensions expect it. `whole`: without the start of a first line that does not fit. */
function cut({ text, truncation, partialLine }: Truncated, options: OutputLimits, isWhole: boolean) {
	const isEmpty = isWhole && partialLine;
	return {
		...truncation,
		...options,
		content: isEmpty ? "" : text,
		lastLinePartial: partialLine && !isEmpty,
		firstLineExceedsLimit: isEmpty,
	};
}

/** The last change of each file, of all extensions of this process. */
const queues = new Map<string, Promise<unknown>>();

/** Runs changes of one file one after another. */
async function withFileMutationQueue<T>(path: string, change: () => Promise<T>): Promise<T> {
	const before = queues.get(path);
	const changed = (async () => {
		await before?.catch(() => {}); // its own caller gets the error
		return change();
	})();
	queues.set(path, changed);
	try {
		return await changed;
	} finally {
		if (queues.get(path) === changed) queues.delete(path);
	}
}

const LANGUAGES: Readonly<Record<string, string>> = {
	cjs: "javascript",
	htm: "html",
	js: "javascript",
	jsx: "javascript",
	md: "markdown",
	mjs: "javascript",
	mts: "typescript",
	py: "python",
	rb: "ruby",
	rs: "rust",
	sh: "bash",
	ts: "typescript",
	tsx: "typescript",
	yml: "yaml",
};

function getLanguageFromPath(path: string): string | undefined {
	const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
	return extension === undefined ? undefined : (LANGUAGES[extension] ?? extension);
}

function highlightCode(code: string, language?: string): string[] {
	return currentTheme().markdown.highlightCode?.(code, language) ?? code.split("\n");
}

/** Colors the lines of a diff by their first character. */
function renderDiff(diff: string): string {
	const { added, removed, dim } = currentTheme();
	const styles: Readonly<Record<string, (text: string) => string>> = { "+": added, "-": removed };
	const lines = diff.split("\n").map((line) => (styles[line[0] ?? ""] ?? dim)(line));
	return lines.join("\n");
}

function getSettingsListTheme() {
	const { accent, muted, dim } = currentTheme();
	return {
		label: (text: string, isSelected: boolean) => (isSelected ? accent(text) : text),
		value: (text: string, isSelected: boolean) => (isSelected ? accent : muted)(text),
		description: dim,
		cursor: accent("→ "),
		hint: dim,
	};
}

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(?:[\s\S]*?\r?\n)??---[ \t]*(?:\r?\n|$)/;

/** Names and values that every extension gets, from modules that are loaded anyway. */
const VALUES = {
	CONFIG_DIR_NAME: ".pi",
	DEFAULT_MAX_BYTES: OUTPUT_LIMITS.maxBytes,
	DEFAULT_MAX_LINES: OUTPUT_LIMITS.maxLines,
	DynamicBorder,
	get VERSION() {
		return packageVersion();
	},
	convertToLlm,
	defineTool: <T>(tool: T): T => tool,
	estimateTokens,
	formatSize: formatBytes,
	getAgentDir: () => agentDir(),
	getLanguageFromPath,
	getMarkdownTheme: () => currentTheme().markdown,
	getSelectListTheme: () => currentTheme().selectList,
	getSettingsListTheme,
	highlightCode,
	isToolCallEventType: (name: string, event: ToolEvent) => event.toolName === name,
	isBashToolResult: isResultOf("bash"),
	isEditToolResult: isResultOf("edit"),
	isFindToolResult: isResultOf("find"),
	isGrepToolResult: isResultOf("grep"),
	isLsToolResult: isResultOf("ls"),
	isPowerShellToolResult: isResultOf("powershell"),
	isReadToolResult: isResultOf("read"),
	isWriteToolResult: isResultOf("write"),
	rawKeyHint: (key: string, description: string) => `${currentTheme().dim(key)} ${currentTheme().muted(description)}`,
	renderDiff,
	serializeConversation,
	stripFrontmatter: (text: string) => text.replace(FRONT_MATTER, "").trim(),
	truncateHead: (text: string, options?: Partial<OutputLimits>) =>
		cut(truncateHead(text, limits(options)), limits(options), true),
	truncateLine: (line: string, maxLength = 500) =>
		line.length > maxLength
			? { text: `${line.slice(0, maxLength)}... [truncated]`, wasTruncated: true }
			: { text: line, wasTruncated: false },
	truncateTail: (text: string, options?: Partial<OutputLimits>) =>
		cut(truncateTail(text, limits(options)), limits(options), false),
	withFileMutationQueue,
};

/** Values that need modules of their own, which are loaded for the extensions whose code names them. */
const PARTS: readonly (readonly [name: RegExp, load: () => Promise<object>])[] = [
	[/\bcreate\w+Tool(?:Definition|s)?\b/, async () => (await import("./builtin-tools.js")).TOOL_VALUES],
	[/\bCustomEditor\b/, async () => ({ CustomEditor: (await import("./custom-editor.js")).CustomEditor })],
	[
		/\bBorderedLoader\b/,
		async () => {
			const [{ borderedLoader }, library] = await Promise.all([import("./bordered-loader.js"), loadTerminalLibrary()]);
			return { BorderedLoader: borderedLoader(library) };
		},
	],
	[
		/\bkey(?:Hint|Text)\b/,
		async () => {
			const [{ keyTexts }, library] = await Promise.all([import("./extension-keys.js"), loadTerminalLibrary()]);
			// The names of pi's own actions are not those of the library.
			return keyTexts((action) => [library.getKeybindings().getKeys(action as never) ?? []].flat());
		},
	],
	[
		/\bparseFrontmatter\b/,
		async () => {
			const { parse } = (await import("yaml")).default;
			const parseFrontmatter = (text: string) => {
				const [block = ""] = FRONT_MATTER.exec(text) ?? [];
				const source = block.replace(/^\ufeff?---.*\r?\n/, "").replace(/---[ \t]*(?:\r?\n)?$/, "");
				return { frontmatter: { ...Object(parse(source)) }, body: text.slice(block.length).trim() };
			};
			return { parseFrontmatter };
		},
	],
];

/**
 * What extensions import from the package of the coding agent. Names that are missing throw when they are used.
 * @param code of the importing file; absent if it is not known
 */
export async function loadCodingAgent(code?: string): Promise<object> {
	const wanted = PARTS.filter(([name]) => code === undefined || name.test(code));
	const parts = await Promise.all(wanted.map(([, load]) => load()));
	return withRefusals(
		"@earendil-works/pi-coding-agent",
		Object.defineProperties(Object.assign({}, ...parts), Object.getOwnPropertyDescriptors(VALUES)),
	);
}
