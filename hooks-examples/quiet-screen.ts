/**
 * A screen with less on it: one line at the top, one at the bottom, no rules, nothing that moves, and a window title that says
 * if the agent works. `/quiet` restores pi's own screen, and a second time brings this one back; `/quiet plain` also shows another
 * theme. Warnings and statuses of other hooks stay.
 *
 * It needs a screen: an RPC client receives only the title, and the other modes show nothing.
 */
import { basename } from "node:path";
import type { HookAPI, HookEventContext } from "@mariozechner/pi-coding-agent/hooks";
import { truncateToWidth } from "@mariozechner/pi-tui";

/** A rule of the editor, with its color. */
const RULE = /^(?:\x1b\[[\d;]*m)*─+(?:\x1b\[[\d;]*m)*$/;

export default function quietScreen(pi: HookAPI): void {
	let isQuiet = true;
	/** The theme of the quiet screen; undefined: that of the user. */
	let theme: string | undefined;
	let turns = 0;
	/** Text of the bottom line. The footer is drawn in every frame, when no context object is at hand. */
	let bottom = "";

	const update = (ctx: HookEventContext): void => {
		const { percent } = ctx.usage;
		bottom = [ctx.model?.id ?? "no model", percent === null ? null : `${Math.round(percent)} %`]
			.filter((part) => part !== null)
			.join(" · ");
	};

	const show = (ctx: HookEventContext): void => {
		update(ctx);
		const { ui } = ctx;
		const project = basename(ctx.cwd);
		ui.setHeader(
			isQuiet
				? (_tui, theme) => ({
						render: (width) => [truncateToWidth(theme.dim(`pi · ${project}`), width, "…")],
						invalidate() {},
					})
				: undefined,
		);
		ui.setFooter(
			isQuiet
				? (_tui, theme) => ({ render: (width) => [truncateToWidth(theme.dim(bottom), width, "…")], invalidate() {} })
				: undefined,
		);
		ui.setEditor(
			isQuiet
				? (_tui, _theme, _keys, editor) => ({
						...editor,
						render: (width) => editor.render(width).filter((row) => !RULE.test(row)),
					})
				: undefined,
		);
		ui.setTitle(isQuiet ? `pi · ${project}` : undefined);
		ui.setLook("indicator", isQuiet ? { frames: ["·"] } : undefined);
		ui.setLook("thinkingLabel", isQuiet ? "thought about it" : undefined);
		ui.setLook("theme", isQuiet ? theme : undefined);
		if (!isQuiet) ui.setWorkingMessage(undefined);
	};

	pi.command("quiet", {
		description: "Switch between the quiet screen and pi's own",
		argumentHint: "[theme]",
		complete: (prefix, ctx) =>
			ctx.ui.themes.filter(({ name }) => name.startsWith(prefix.trim())).map(({ name }) => ({ value: name })),
		handler(ctx) {
			[theme] = ctx.args;
			isQuiet = theme !== undefined || !isQuiet;
			show(ctx);
		},
	});

	pi.on("session", (event, ctx) => {
		if (["start", "switch", "clear", "branch"].includes(event.reason)) show(ctx);
	});
	pi.on("model_changed", (_, ctx) => update(ctx));

	pi.on("agent_start", (_, ctx) => {
		turns = 0;
		if (isQuiet) ctx.ui.setTitle(`● pi · ${basename(ctx.cwd)}`);
	});
	pi.on("turn_start", (_, ctx) => {
		turns++;
		if (isQuiet) ctx.ui.setWorkingMessage(turns === 1 ? "working" : `working · step ${turns}`);
	});
	pi.on("turn_end", (_, ctx) => update(ctx));
	pi.on("agent_end", (_, ctx) => {
		if (isQuiet) ctx.ui.setTitle(`pi · ${basename(ctx.cwd)}`);
	});
}
