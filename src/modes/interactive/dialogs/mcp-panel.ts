import { type Component, type Focusable, visibleWidth } from "@mariozechner/pi-tui";
import type { CommandMcp, McpServerState, McpServerStatus } from "../../../commands/mcp-status.js";
import { errorText } from "../../../errors.js";
import { clickable } from "../../../tui/clicks.js";
import { type DialogStyle, hint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { clipLine, column, spread } from "../../../tui/line.js";
import { ScrollList, ScrollText } from "../../../tui/scroll.js";
import type { Theme } from "../../../tui/theme.js";
import { displayPath, formatTokens, plural } from "../../format.js";
import { cleanLine, wrapLines } from "../clean-text.js";
import { listRows, titleLine } from "./panel-lines.js";

/** Data and callbacks of an `McpPanel`. */
export interface McpPanelOptions {
	mcp: CommandMcp;
	/** Called with the name of a server to log in to. */
	onLogin(name: string): void;
	onClose(): void;
	requestRender(): void;
	/** Aborted when the panel closes. */
	closed: AbortSignal;
	/** Paths are shown relative to these. */
	paths: { cwd: string; home: string };
}

const STATES = {
	off: ["off", "warning"],
	idle: ["not started", "dim"],
	starting: ["starting …", "accent"],
	ready: ["ready", "success"],
	login: ["needs a login", "warning"],
	failed: ["failed", "error"],
} as const satisfies Record<McpServerState, readonly [text: string, style: keyof Theme]>;

/** Shows the MCP servers with their state, tools and log; restarts them and turns them on and off. */
export class McpPanel implements Component, Focusable {
	focused = false;
	/** Name of the server whose details or log is open. */
	#open: { name: string; page: "details" | "log" } | null = null;
	#problem: string | null = null;
	readonly #list: ScrollList;
	#text: ScrollText;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: McpPanelOptions,
	) {
		const rows = () => listRows(style.rows?.() ?? 30);
		this.#list = new ScrollList(rows);
		this.#text = new ScrollText(rows);
		const unsubscribe = options.mcp.subscribe(() => options.requestRender());
		options.closed.addEventListener("abort", unsubscribe, { once: true });
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
		const servers = this.options.mcp.list();
		const open = servers.find(({ name }) => name === this.#open?.name);
		const selected = open ?? servers[this.#list.selected];
		const problem = this.#problem === null ? [] : [theme.error(clipLine(` ${cleanLine(this.#problem)}`, width))];
		const shared = [
			hint("restart", "mcpPanel.restart"),
			hint(selected?.state === "off" ? "enable" : "disable", "dialog.toggle"),
			hint(this.#open?.page === "log" ? "details" : "log", "mcpPanel.log"),
			...(selected?.state === "login" ? [hint("log in", "mcpPanel.login")] : []),
		];
		const keys = open
			? [hint("scroll", ...UP_DOWN), ...shared, hint("back", "dialog.cancel")]
			: [hint("move", ...UP_DOWN), hint("details", "dialog.accept"), ...shared, hint("", "dialog.cancel")];
		const body = open ? this.#renderOpen(open, width) : this.#renderList(servers, width);
		return [theme.dim("─".repeat(width)), ...body, ...problem, ...keyLines(keys, this.style, width)];
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const { mcp, onLogin, onClose, requestRender } = this.options;
		const servers = mcp.list();
		const server = servers.find(({ name }) => name === this.#open?.name) ?? servers[this.#list.selected];
		const isMove =
			this.#open === null ? this.#list.handle(data, keymap, servers.length) : this.#text.handle(data, keymap);
		if (isMove) {
			// Nothing else to do.
		} else if (keymap.matches(data, "dialog.cancel")) {
			if (this.#open === null) onClose();
			this.#open = null;
		} else if (server === undefined) {
			// Nothing to act on.
		} else if (keymap.matches(data, "dialog.accept")) this.#show(server.name, "details");
		else if (keymap.matches(data, "mcpPanel.log")) {
			this.#show(server.name, this.#open?.page === "log" ? "details" : "log");
		} else if (keymap.matches(data, "mcpPanel.restart")) this.#run(mcp.restart(server.name));
		else if (keymap.matches(data, "dialog.toggle")) this.#run(mcp.setEnabled(server.name, server.state === "off"));
		else if (keymap.matches(data, "mcpPanel.login") && server.state === "login") onLogin(server.name);
		requestRender();
	}

	invalidate(): void {} // nothing cached

	#show(name: string, page: "details" | "log"): void {
		this.#text = new ScrollText(() => listRows(this.style.rows?.() ?? 30));
		this.#open = { name, page };
	}

	#run(action: Promise<void>): void {
		this.#problem = null;
		action
			.catch((error: unknown) => {
				this.#problem = errorText(error);
			})
			.finally(() => this.options.requestRender());
	}

	#renderList(servers: readonly McpServerStatus[], width: number): string[] {
		const { theme } = this.style;
		const { from, to } = this.#list.window(servers.length);
		const nameWidth = Math.min(width < 60 ? 12 : 24, Math.max(...servers.map(({ name }) => visibleWidth(name))));
		const tokens = servers.reduce((sum, server) => sum + server.tokens, 0);
		const failed = servers.filter(({ state }) => state === "failed").length;
		const facts = [
			plural(servers.length, "server"),
			...(failed > 0 ? [`${failed} failed`] : []),
			`${formatTokens(tokens)} tokens`,
		];
		return [
			titleLine(` ${theme.bold("MCP servers")}`, facts, width),
			...servers
				.slice(from, to)
				.map((server, at) => this.#row(server, from + at === this.#list.selected, nameWidth, width))
				.map((line, at) => clickable(line, from + at, this.style)),
		];
	}

	#row(server: McpServerStatus, isSelected: boolean, nameWidth: number, width: number): string {
		const { theme } = this.style;
		const [state, style] = STATES[server.state];
		const name = column(server.name, nameWidth);
		const left = ` ${isSelected ? theme.accent("→") : " "} ${isSelected ? theme.bold(name) : name}  `;
		const right = theme[style](state);
		const room = width - visibleWidth(left) - visibleWidth(state) - 3;
		const middle = room >= 8 ? theme.dim(clipLine(rowText(server), room)) : "";
		return spread(left + middle, `${right} `, width);
	}

	#renderOpen(server: McpServerStatus, width: number): string[] {
		const { theme } = this.style;
		const isLog = this.#open?.page === "log";
		const lines = isLog ? this.#logLines(server) : detailLines(server, this.options.paths);
		const wrapped = wrapLines(
			lines.map((line) => cleanLine(line, 2000)),
			width - 1,
		);
		const { from, to } = this.#text.window(wrapped.length);
		const title = ` ${theme.bold(isLog ? `Log of ${server.name}` : server.name)}`;
		return [
			titleLine(title, [STATES[server.state][0]], width),
			...wrapped.slice(from, to).map((line) => clipLine(` ${line}`, width)),
		];
	}

	#logLines(server: McpServerStatus): string[] {
		const lines = this.options.mcp.log(server.name);
		const path = server.logPath === undefined ? [] : [`file: ${displayPath(server.logPath, this.options.paths)}`];
		return [...path, ...(lines.length > 0 ? lines : ["(nothing was logged)"])];
	}
}

/** What matters most about a server. */
function rowText({ state, tools, prompts, tokens, lastError, address }: McpServerStatus): string {
	if (state === "failed" && lastError !== null) return cleanLine(lastError);
	if (state !== "ready") return cleanLine(address);
	return [
		plural(tools.length, "tool"),
		tokens === 0 && tools.length > 0 ? "found by search" : `${formatTokens(tokens)} tokens`,
		...(prompts.length > 0 ? [plural(prompts.length, "prompt")] : []),
		...(lastError === null ? [] : [cleanLine(`last error: ${lastError}`)]),
	].join(" · ");
}

/** All details of a server, one per line. */
function detailLines(server: McpServerStatus, paths: { cwd: string; home: string }): string[] {
	const { address, source, starts, tokens, tools, prompts, lastError, name } = server;
	return [
		`server    ${address}`,
		`file      ${displayPath(source, paths)}`,
		`starts    ${starts}`,
		...(lastError === null ? [] : [`error     ${lastError}`]),
		`tokens    ${formatTokens(tokens)} in the next request`,
		...(prompts.length > 0 ? [`prompts   ${prompts.map((prompt) => `/${prompt}`).join(" ")}`] : []),
		...tools.map((tool) => {
			const mark = tool.isOffered ? `${formatTokens(tool.tokens)} tokens` : "found by search";
			return `tool      ${tool.name.slice(name.length + 1)} (${mark}) ${tool.description}`;
		}),
	];
}
