import { PiError } from "../../errors.js";
import type { CommandResult } from "../../hooks/types.js";
import { withTimeLimit } from "../../util/abort.js";
import { formatTokens, plural } from "../../util/format-amounts.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import type { McpServerState, McpServerStatus } from "../mcp-status.js";
import { loginDialogs } from "./login.js";
import { report } from "./report.js";

const ACTIONS = ["restart", "disable", "enable", "log", "login", "logout"] as const;

type Action = (typeof ACTIONS)[number];

/** Maximum wait for servers that start, without a panel that shows them, ms. */
const MAX_WAIT_MS = 5000;
const NO_SERVERS = "No MCP server is configured · pi mcp add defines one";

/** `/mcp [action server]`: shows the MCP servers, in a panel if the shell has one, and restarts, disables and logs in. */
export const mcpCommand: SlashCommand = {
	name: "mcp",
	argumentHint: "[action server]",
	description: "Show the MCP servers",
	complete(prefix, { mcp }) {
		const [action = "", server] = prefix.split(" ");
		const names = mcp.list().map(({ name }) => name);
		const values = server === undefined ? ACTIONS : names.map((name) => `${action} ${name}`);
		return values.filter((value) => value.startsWith(prefix)).map((value) => ({ value }));
	},
	async run(context) {
		const { session, shell, args, signal } = context;
		const { mcp } = session;
		if (args.length > 0) return act(readAction(args), context);
		if (mcp.list().length === 0) return report(context, "MCP servers", [...mcp.problems, NO_SERVERS]);
		if (!shell?.openMcp) {
			await withTimeLimit(MAX_WAIT_MS, [signal], (limited) => mcp.ready(limited));
			return report(context, "MCP servers", [...mcp.list().flatMap(describe), ...mcp.problems]);
		}
		void mcp.ready(signal);
		for (;;) {
			const server = await shell.openMcp(mcp, signal);
			if (server === null) return undefined;
			const done = await act({ action: "login", server }, context);
			if (done !== undefined && typeof done !== "string" && "status" in done) context.ui.notify(done.status, "info");
		}
	},
};

function readAction([word, server]: readonly string[]): { action: Action; server: string } {
	const action = ACTIONS.find((candidate) => candidate === word);
	if (action && server !== undefined) return { action, server };
	throw new PiError("bad_arguments", `/mcp expects ${ACTIONS.join(", ")}, and the name of a server`, {
		hint: "for example /mcp restart github",
	});
}

async function act(
	{ action, server }: { action: Action; server: string },
	context: BuiltinCommandContext,
): Promise<CommandResult | undefined> {
	const { session, signal, ui } = context;
	const { mcp } = session;
	const status = () => {
		const found = mcp.list().find(({ name }) => name === server);
		return { status: found ? summary(found) : server };
	};
	switch (action) {
		case "restart":
			await mcp.restart(server);
			return status();
		case "disable":
		case "enable":
			await mcp.setEnabled(server, action === "enable");
			return status();
		case "log": {
			const lines = mcp.log(server);
			const path = mcp.list().find(({ name }) => name === server)?.logPath;
			const shown = [...(lines.length > 0 ? lines : ["(nothing was logged)"]), ...(path ? [`Log: ${path}`] : [])];
			return report(context, `Log of ${server}`, shown);
		}
		case "login": {
			if (ui.canType === false) {
				throw new PiError("not_a_terminal", "/mcp login has to ask you, and nothing here can show the question", {
					hint: "start pi in a terminal",
				});
			}
			const isDone = await mcp.logIn(server, loginDialogs(server, context), signal);
			return { status: isDone ? `Logged in to ${server} · ${status().status}` : `The login to ${server} was canceled` };
		}
		case "logout":
			return { status: (await mcp.logOut(server)) ? `Logged out of ${server}` : `There is no login to ${server}` };
	}
}

const STATES: Readonly<Record<McpServerState, string>> = {
	off: "off",
	idle: "not started",
	starting: "starting",
	ready: "ready",
	login: "needs a login",
	failed: "failed",
};

/** `everything · ready · 13 tools, 1 offered · 120 tokens`. */
function summary({ name, state, tools, tokens, lastError }: McpServerStatus): string {
	const offered = tools.filter(({ isOffered }) => isOffered).length;
	const shown = `${plural(tools.length, "tool")}${offered < tools.length ? `, ${offered} offered` : ""}`;
	const facts = state === "ready" ? [shown, `${formatTokens(tokens)} tokens`] : [];
	return [name, STATES[state], ...facts, ...(state === "failed" && lastError ? [lastError] : [])].join(" · ");
}

function describe(server: McpServerStatus): string[] {
	const { address, source, tools, prompts, lastError, logPath, state } = server;
	return [
		summary(server),
		`  ${address} (${source})`,
		...(tools.length > 0 ? [`  tools: ${tools.map(({ name }) => name).join(", ")}`] : []),
		...(prompts.length > 0 ? [`  prompts: ${prompts.map((name) => `/${name}`).join(", ")}`] : []),
		...(lastError !== null && state !== "failed" ? [`  last error: ${lastError}`] : []),
		...(logPath === undefined ? [] : [`  log: ${logPath}`]),
	];
}
