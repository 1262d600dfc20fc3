/**
 * The guard: decides which tool calls run, ask or are blocked, by rules in the settings and by a mode. `permissions`,
 * `permission-gate`, `protected-paths` and `plan-mode` are presets of it: what happens without a rule. Presets that are on
 * together are one guard, in which the strictest answer counts.
 *
 * - `permissions`: reading in the project runs, as do the task list and question.ts; everything else asks.
 * - `permission-gate`: commands that are not clearly harmless ask; everything else runs.
 * - `protected-paths`: write and edit cannot change `.env` files, `.git` and `node_modules`; everything else runs.
 * - `plan-mode`: everything runs, except in plan mode.
 *
 * A rule is a tool, or a tool with a pattern for its command or path: `write`, `write(src/*)`, `bash(npm test)`,
 * `bash(git log *)`. Deny wins over ask, and ask over allow. Paths are relative to the project, after links are resolved;
 * outside of the project they are absolute. `/permissions` lists the rules, adds and removes them.
 *
 * Shift+Tab and `/mode` go through the modes: ask, accept edits, plan, and bypass with `--bypass-permissions`. A session that is
 * opened again is in plan mode if it was, and otherwise in the first mode. In plan mode the model can only read, and ends its answer with a plan: you carry it out, edit it first, or keep planning. `/plan <task>` and
 * `pi --plan` start there.
 *
 * An RPC client receives the questions. In print and JSON mode nobody can answer, and a call that would ask is blocked. If the
 * settings cannot be read, every call is blocked.
 *
 * Limits: rules prevent accidents, not attacks. The text of a command does not show what it does: `npm test` runs whatever the
 * project defines, and a deny rule for `bash(rm *)` does not stop `/bin/rm`. Therefore an allow rule with `*` never covers a
 * command that could contain a second one. Links that another program changes between the question and the call are not
 * detected, nor are hard links. For protection, run pi in a container or as a separate user.
 */
import type {
	CommandContext,
	CommandResult,
	HookAPI,
	HookEventContext,
	ToolCallEvent,
} from "@mariozechner/pi-coding-agent/hooks";
import { completeAction, runPermissions } from "./permissions/command.js";
import { findMode, MODE_ENTRY, MODES, type Mode, modeOf, modesFor, OLD_ENTRY, savedMode } from "./permissions/modes.js";
import {
	CARRY_OUT,
	CARRY_OUT_EDITS,
	EDIT_PLAN,
	KEEP_PLANNING,
	lastPlan,
	PLAN_RULES,
	PLAN_TOOLS,
} from "./permissions/plan.js";
import { ASKING, callOf, isPlainEdit, type Preset, verdictOf } from "./permissions/presets.js";
import { questionOf } from "./permissions/question.js";
import { actionOf, type Call } from "./permissions/rules.js";

const SESSION_CHANGES = ["start", "switch", "clear", "branch"];
const OTHER_SESSION = ["switch", "clear"];
/** Events between the presets: each adds its name; each removes its status, before the one that works shows the mode. */
const ASK_PRESETS = "permissions:presets";
const HIDE_STATUS = "permissions:hide";

/** What happens to a call. */
type Decision =
	| { action: "allow" }
	| { action: "deny"; reason: string; notice?: string }
	| { action: "ask"; call: Call; isRuled: boolean };

export default function permissions(pi: HookAPI): void {
	guard(pi, "permissions");
}

/** The guard with a preset. Of several presets that are on, the first that loads works, for all of them. */
export function guard(pi: HookAPI, preset: Preset): void {
	/** Allow rules of this session. */
	const session = new Set<string>();
	/** The mode that the user chose since the session was opened. */
	let granted: Mode | null = null;

	pi.events.on(ASK_PRESETS, (names) => void (names as Preset[]).push(preset));
	pi.events.on(HIDE_STATUS, (_, ctx) => ctx.ui.setStatus("mode", undefined));

	/** The presets that are on; the first one works. */
	const presets = (): readonly Preset[] => {
		const names: Preset[] = [];
		pi.events.emit(ASK_PRESETS, names);
		return names.length > 0 ? names : [preset];
	};
	const isActing = () => presets()[0] === preset;
	const modes = ({ flags }: Pick<HookEventContext, "flags">) =>
		modesFor({
			asks: presets().some((name) => ASKING.includes(name)),
			bypass: flags["bypass-permissions"] === true,
		});
	const currentMode = (ctx: Pick<HookEventContext, "flags" | "entries">) => modeOf(ctx.entries, modes(ctx), granted);

	const showMode = (ctx: HookEventContext) => {
		pi.events.emit(HIDE_STATUS);
		const { show } = MODES[currentMode(ctx)];
		ctx.ui.setStatus("mode", show?.(ctx.ui.theme));
	};
	const setMode = async (ctx: HookEventContext, mode: Mode) => {
		const before = savedMode(ctx.entries) ?? modes(ctx)[0];
		granted = mode;
		if (mode !== before) {
			await ctx.saveEntry({ type: MODE_ENTRY, mode });
			// Only plan mode changes the request.
			if (mode === "plan" || before === "plan") await ctx.rebuildContext();
		}
		showMode(ctx);
	};

	const decide = async (event: ToolCallEvent, ctx: HookEventContext): Promise<Decision> => {
		const { toolName } = event;
		const mode = currentMode(ctx);
		// Hooks can call tools that the model is not offered.
		if (mode === "plan" && !PLAN_TOOLS.has(toolName))
			return { action: "deny", reason: `Plan mode: ${toolName} could change something, and you can only read.` };
		const call = callOf(event, ctx.cwd);
		const allowed = [...session].map((rule) => ({ action: "allow" as const, rule }));
		const ruled = actionOf(call, [...(await ctx.permissions.list()), ...allowed]);
		if (ruled === "deny")
			return { action: "deny", reason: "A rule of the user denies this call. Do not try another way." };
		const verdict = verdictOf(presets(), call, event, ctx.cwd);
		if (verdict === "deny") {
			const path = String(event.input.path);
			const reason = `${path} is protected: do not change it; ask the user to change it`;
			return { action: "deny", reason, notice: `Blocked ${toolName} on the protected path ${path}` };
		}
		if (mode === "bypass") return { action: "allow" };
		if (ruled === "ask") return { action: "ask", call, isRuled: true };
		const isAccepted = mode === "accept-edits" && isPlainEdit(call, event, ctx.cwd);
		if (ruled === "allow" || isAccepted || verdict === "allow") return { action: "allow" };
		return { action: "ask", call, isRuled: false };
	};

	pi.on("tool_call", async (event, ctx) => {
		if (!isActing()) return undefined;
		const decision = await decide(event, ctx);
		if (decision.action === "allow") return undefined;
		if (decision.action === "deny") {
			if (decision.notice) ctx.ui.notify(decision.notice, "warning");
			return { block: true, reason: decision.reason };
		}
		const { call, isRuled } = decision;
		const canAccept = modes(ctx).includes("accept-edits") && isPlainEdit(call, event, ctx.cwd);
		// pi asks the user, or an RPC client, and blocks the call unless the answer is yes.
		return {
			ask: questionOf(call, {
				isRuled,
				allowHere: (rules) => rules.forEach((rule) => void session.add(rule)),
				save: (rule) => ctx.permissions.add(rule),
				acceptEdits: canAccept ? () => setMode(ctx, "accept-edits") : null,
				isAllowed: async () => (await decide(event, ctx)).action === "allow",
			}),
		};
	});

	pi.command("permissions", {
		description: "List, add or remove rules for tool calls",
		argumentHint: "[allow | ask | deny <rule>]",
		complete: completeAction,
		handler: (ctx) => runPermissions(ctx, { list: () => [...session], remove: (rule) => void session.delete(rule) }),
	});

	const switchTo = async (ctx: CommandContext, mode: Mode): Promise<CommandResult | undefined> => {
		await setMode(ctx, mode);
		// On a screen the footer shows it.
		return ctx.mode === "interactive"
			? undefined
			: { status: `Mode: ${MODES[mode].name} · ${MODES[mode].description}` };
	};

	pi.command("mode", {
		description: "Switch to another mode: ask, accept edits, plan",
		argumentHint: "[mode]",
		complete: (prefix, ctx) =>
			modes(ctx)
				.filter((mode) => mode.startsWith(prefix.trim().toLowerCase()))
				.map((mode) => ({ value: mode, label: MODES[mode].name, description: MODES[mode].description })),
		async handler(ctx) {
			const all = modes(ctx);
			const current = currentMode(ctx);
			const name = ctx.argsRaw.trim();
			if (name === "next") return switchTo(ctx, all[(all.indexOf(current) + 1) % all.length] ?? current);
			const mode = findMode(name, all);
			if (mode) return switchTo(ctx, mode);
			const known = `/mode ${all.join(", ")}`;
			if (name !== "") return { status: `There is no mode ${name} · use ${known}` };
			if (!ctx.hasUI) return { status: `Mode: ${MODES[current].name} · ${known}` };
			const options = all.map((value) => ({
				...{ value, label: MODES[value].name },
				description: MODES[value].description,
			}));
			const chosen = await ctx.ui.select<Mode>("Which mode?", options);
			return chosen === null ? undefined : switchTo(ctx, chosen);
		},
	});

	pi.flag("plan", { description: "Start in plan mode: read only, then ask to carry out the plan", type: "boolean" });
	pi.flag("bypass-permissions", { description: "Add the mode bypass, in which nothing asks", type: "boolean" });
	// Registered for a session to resume with its mode; the footer shows it.
	pi.entry(MODE_ENTRY);
	pi.entry(OLD_ENTRY);

	pi.command("plan", {
		description: "Turn plan mode on or off, or plan a task",
		argumentHint: "[task]",
		async handler(ctx) {
			const task = ctx.argsRaw.trim();
			const [first = "ask"] = modes(ctx);
			if (task === "") return switchTo(ctx, currentMode(ctx) === "plan" ? first : "plan");
			await setMode(ctx, "plan");
			return { prompt: task };
		},
	});

	pi.on("session", async (event, ctx) => {
		if (OTHER_SESSION.includes(event.reason)) {
			session.clear();
			granted = null;
		}
		if (!SESSION_CHANGES.includes(event.reason) || !isActing()) return;
		// After a reload the session has an entry, and the user may have turned the mode off.
		const isNew = !ctx.entries.some(({ type }) => type === MODE_ENTRY || type === OLD_ENTRY);
		if (event.reason === "start" && ctx.flags.plan === true && isNew) await setMode(ctx, "plan");
		else showMode(ctx);
	});

	pi.on("context", ({ entries, systemPrompt, tools }) => {
		if (savedMode(entries) !== "plan") return undefined;
		return {
			tools: tools.map(({ name }) => name).filter((name) => PLAN_TOOLS.has(name)),
			systemPrompt: [...systemPrompt, { id: `${preset}:plan`, text: PLAN_RULES }],
		};
	});

	pi.on("agent_settled", async (_, ctx) => {
		const plan = isActing() && currentMode(ctx) === "plan" ? lastPlan(ctx.entries) : null;
		if (plan === null) return;
		const all = modes(ctx);
		const edits = all.includes("accept-edits") ? [CARRY_OUT_EDITS] : [];
		const choices = [...edits, EDIT_PLAN];
		const answer = await ctx.ui.approve({
			question: "Carry out this plan?",
			subject: { kind: "text", text: "" },
			yes: CARRY_OUT,
			no: KEEP_PLANNING,
			choices: choices.map((label) => ({ label })),
			takesMessage: true,
		});
		if (!answer.allowed) {
			if (answer.message) pi.send(answer.message);
			return;
		}
		const choice = choices[answer.choice] ?? CARRY_OUT;
		const edited = choice === EDIT_PLAN ? await ctx.ui.editor("Plan", plan) : null;
		if (choice === EDIT_PLAN && !edited?.trim()) return;
		await setMode(ctx, choice === CARRY_OUT_EDITS ? "accept-edits" : (all[0] ?? "ask"));
		pi.send(edited ? `Carry out this plan. I have edited it:\n\n${edited.trim()}` : "Carry out the plan.");
	});
}
