import { PiError } from "../../errors.js";
import type { BuiltinCommandContext, CommandSession, SlashCommand } from "../command.js";
import { report } from "./report.js";

const ACTIONS = ["on", "off"];

/** `/tools [on|off name…]`: enables and disables tools for this session. */
export const toolsCommand: SlashCommand = {
	name: "tools",
	argumentHint: "[on|off name]",
	description: "Turn tools on or off for this session",
	complete(prefix, { tools }) {
		const [action = "", ...names] = prefix.split(/\s+/);
		const wanted = names.at(-1);
		if (wanted === undefined) return ACTIONS.filter((word) => word.startsWith(action)).map((value) => ({ value }));
		const before = prefix.slice(0, prefix.length - wanted.length);
		return tools
			.list()
			.filter(({ name, isOn }) => name.startsWith(wanted) && isOn === (action === "off"))
			.map(({ name }) => ({ value: before + name }));
	},
	async run(context) {
		const { session, shell, args, signal } = context;
		if (args.length > 0) return { status: change(args, session) };
		if (!shell?.openTools) return report(context, "Tools", lines(context));
		const before = namesOn(session);
		await shell.openTools(session.tools, signal);
		return namesOn(session) === before ? undefined : { status: describe(session) };
	},
};

function change([action = "", ...names]: readonly string[], session: CommandSession): string {
	if (!ACTIONS.includes(action) || names.length === 0) {
		throw new PiError("bad_arguments", "/tools expects on or off, and names of tools", {
			hint: "for example /tools off bash",
		});
	}
	for (const name of names) session.tools.setEnabled(name, action === "on");
	return describe(session);
}

function describe({ tools }: CommandSession): string {
	const off = tools.list().flatMap(({ name, isOn }) => (isOn ? [] : [name]));
	return off.length === 0 ? "All tools are on" : `Off for this session: ${off.join(", ")}`;
}

function namesOn({ tools }: CommandSession): string {
	return tools
		.list()
		.flatMap(({ name, isOn }) => (isOn ? [name] : []))
		.join(" ");
}

function lines({ session }: BuiltinCommandContext): string[] {
	const tools = session.tools.list();
	if (tools.length === 0) return ["This session has no tools"];
	const width = Math.max(...tools.map(({ name }) => name.length));
	return tools.map(({ name, source, replacesBuiltin, isOn }) => {
		const note = replacesBuiltin ? " (replaces the built-in tool)" : "";
		return `${isOn ? "on " : "off"}  ${name.padEnd(width)}  ${source}${note}`;
	});
}
