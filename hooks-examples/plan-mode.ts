/**
 * Plan first: in plan mode the model can only read, and ends its answer with a plan. Start with `pi --plan`, or switch with
 * `/plan` or alt+r; `/plan <task>` also sends the task. When the model has written a plan, you choose: carry it out, edit
 * it first, or keep planning.
 *
 * The mode is an entry of the session, so it survives a restart and the context depends on entries only. In print and JSON
 * mode nobody can accept a plan: `pi --plan -p "…"` prints it. An RPC client receives the question as a dialog.
 *
 * Limits: the model is not offered the other tools. What `read` can open, it can read.
 */
import {
	type CommandContext,
	type CommandResult,
	type HookAPI,
	type HookEventContext,
	isMessageEntry,
	messageText,
	type SessionEntry,
} from "@mariozechner/pi-coding-agent/hooks";

/** Tools that change no files: those of pi, of the task list, of question.ts and clear.ts, and of batch.ts, whose calls are checked. */
const READING = new Set(["read", "grep", "find", "ls", "tasks", "question", "recall", "batch"]);

const RULES = `You are in plan mode: find out what is needed, but change nothing. You can only read.
Ask if the task is ambiguous. Otherwise end your answer with the plan: a heading "## Plan", then numbered steps that name the
files to change, and how to check the result. The user decides if the plan is carried out.`;

const CARRY_OUT = "Carry it out";
const EDIT = "Edit it first";
const SESSION_CHANGES = ["start", "switch", "clear", "branch"];

export default function planMode(pi: HookAPI): void {
	pi.flag("plan", { description: "Start in plan mode: read only, then ask to carry out the plan", type: "boolean" });

	pi.entry("plan_mode", {
		render: (entry, theme) => theme.dim(isOn([entry]) ? "plan mode: the model can only read" : "plan mode is off"),
	});

	const toggle = async (ctx: CommandContext): Promise<CommandResult | undefined> => {
		const on = !isOn(ctx.entries);
		await setMode(ctx, on);
		// On a screen the transcript shows the entry.
		if (ctx.hasUI) return undefined;
		return { status: on ? "Plan mode is on: the model can only read" : "Plan mode is off" };
	};

	pi.shortcut("alt+r", { description: "Turn plan mode on or off", handler: toggle });

	pi.command("plan", {
		description: "Turn plan mode on or off, or plan a task",
		argumentHint: "[task]",
		async handler(ctx) {
			const task = ctx.argsRaw.trim();
			if (task === "") return toggle(ctx);
			await setMode(ctx, true);
			return { prompt: task };
		},
	});

	pi.on("session", async (event, ctx) => {
		if (!SESSION_CHANGES.includes(event.reason)) return;
		// After a reload the session has an entry, and the user may have turned the mode off.
		const isNew = !ctx.entries.some(({ type }) => type === "plan_mode");
		if (event.reason === "start" && ctx.flags.plan === true && isNew) await setMode(ctx, true);
		else showMode(ctx);
	});

	pi.on("context", ({ entries, systemPrompt, tools }) => {
		if (!isOn(entries)) return undefined;
		return {
			tools: tools.map(({ name }) => name).filter((name) => READING.has(name)),
			systemPrompt: [...systemPrompt, { id: "plan-mode:rules", text: RULES }],
		};
	});

	// Hooks can call tools that the model is not offered.
	pi.on("tool_call", ({ toolName }, ctx) => {
		if (!isOn(ctx.entries) || READING.has(toolName)) return undefined;
		return { block: true, reason: `Plan mode: ${toolName} could change something, and you can only read.` };
	});

	pi.on("agent_settled", async (_, ctx) => {
		const plan = isOn(ctx.entries) ? lastPlan(ctx.entries) : null;
		if (plan === null) return;
		const choice = await ctx.ui.select("Carry out this plan?", [CARRY_OUT, EDIT, "Keep planning"]);
		const edited = choice === EDIT ? await ctx.ui.editor("Plan", plan) : null;
		if (choice !== CARRY_OUT && !edited?.trim()) return;
		await setMode(ctx, false);
		pi.send(edited ? `Carry out this plan. I have edited it:\n\n${edited.trim()}` : "Carry out the plan.");
	});
}

async function setMode(ctx: HookEventContext, on: boolean): Promise<void> {
	if (isOn(ctx.entries) !== on) {
		await ctx.saveEntry({ type: "plan_mode", on });
		await ctx.rebuildContext();
	}
	showMode(ctx);
}

function showMode(ctx: HookEventContext): void {
	ctx.ui.setStatus("mode", isOn(ctx.entries) ? ctx.ui.theme.warning("plan mode") : undefined);
}

function isOn(entries: readonly SessionEntry[]): boolean {
	const last = entries.findLast(({ type }) => type === "plan_mode");
	return last !== undefined && "on" in last && last.on === true;
}

/** The plan at the end of the last answer; null if it has none or was stopped. */
function lastPlan(entries: readonly SessionEntry[]): string | null {
	const last = entries.findLast(isMessageEntry)?.message;
	if (last?.role !== "assistant" || last.stopReason !== "stop") return null;
	const parts = messageText(last).split(/^#{1,6} *plan\b.*$/im);
	return parts.length > 1 ? parts.at(-1)?.trim() || null : null;
}
