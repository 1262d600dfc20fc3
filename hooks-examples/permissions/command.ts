/** `/permissions`: lists, adds and removes rules. */
import type {
	CommandContext,
	CommandResult,
	CompletionItem,
	PermissionRule,
	PermissionScope,
} from "@mariozechner/pi-coding-agent/hooks";
import { ACTIONS, isRule } from "./rules.js";

const USAGE = "Usage: /permissions [allow|ask|deny <rule> [--everywhere]], such as /permissions allow bash(npm test)";

const SCOPES: Readonly<Record<PermissionScope | "session", string>> = {
	session: "until this session ends",
	here: "this project, in your settings.json",
	everywhere: "all projects, in your settings.json",
	project: "the project's .pi/settings.json",
	program: "the program that started pi",
};

/** The rules of this session, which the command can remove. */
export interface SessionRules {
	list(): readonly string[];
	remove(rule: string): void;
}

/** Completes the actions. */
export function completeAction(prefix: string): CompletionItem[] {
	return ACTIONS.filter((name) => name.startsWith(prefix.trim())).map((value) => ({ value: `${value} ` }));
}

/** Runs `/permissions`. @throws if the settings cannot be read or written */
export function runPermissions(ctx: CommandContext, session: SessionRules): Promise<CommandResult | undefined> {
	return ctx.argsRaw.trim() === "" ? listRules(ctx, session) : addRule(ctx);
}

async function listRules(ctx: CommandContext, session: SessionRules): Promise<CommandResult | undefined> {
	const saved = await ctx.permissions.list();
	const rows = [
		...session.list().map((rule) => ({ rule, scope: "session" as const, action: "allow" as const })),
		...saved,
	].map((row) => ({ row, label: `${row.action} ${row.rule} · ${SCOPES[row.scope]}` }));
	if (rows.length === 0) return { status: "There are no rules · /permissions allow|ask|deny <rule> adds one" };
	if (!ctx.hasUI && ctx.mode !== "rpc") return { status: rows.map(({ label }) => label).join("\n") };
	const chosen = await ctx.ui.select(
		"Permission rules: choose one to remove",
		rows.map(({ label }) => label),
	);
	const found = rows.find(({ label }) => label === chosen)?.row;
	if (!found) return undefined;
	const { action, rule, scope } = found;
	if (scope === "session") session.remove(rule);
	else await ctx.permissions.remove({ action, rule, scope });
	return { status: `Removed ${action} ${rule}` };
}

async function addRule({ argsRaw, permissions }: CommandContext): Promise<CommandResult> {
	const [, word = "", rest = ""] = /^\s*(\S+)\s*([\s\S]*?)\s*$/.exec(argsRaw) ?? [];
	const isEverywhere = /\s--everywhere$/.test(rest);
	const rule = rest.replace(/\s+--everywhere$/, "");
	const action = ACTIONS.find((name) => name === word);
	if (!action || !isRule(rule)) return { status: USAGE };
	const added: PermissionRule = { action, rule, scope: isEverywhere ? "everywhere" : "here" };
	await permissions.add(added);
	return { status: `Saved ${action} ${rule} for ${isEverywhere ? "all projects" : "this project"}` };
}
