import { PiError } from "../../errors.js";
import type { CommandResult } from "../../hooks/types.js";
import { describeJobState, type JobStatus, shortCommand } from "../../tools/job-status.js";
import type { BuiltinCommandContext, SlashCommand } from "../command.js";
import { report } from "./report.js";

const ACTIONS = ["show", "stop"] as const;
type Action = (typeof ACTIONS)[number];

const TITLE = "Background commands";
/** Lines of output that `show` prints. */
const SHOWN_LINES = 20;

/** `/jobs [show|stop id]`: lists the background commands, shows the end of their output and stops them. */
export const jobsCommand: SlashCommand = {
	name: "jobs",
	argumentHint: "[show|stop id]",
	description: "List and stop background commands",
	complete(prefix, { jobs }) {
		const [first = "", wanted] = prefix.split(/\s+/);
		if (wanted === undefined) return ACTIONS.filter((word) => word.startsWith(first)).map((value) => ({ value }));
		return jobs
			.list()
			.filter(({ id, isRunning }) => id.startsWith(wanted) && (isRunning || first === "show"))
			.map(({ id, command }) => ({ value: `${first} ${id}`, description: shortCommand(command) }));
	},
	async run(context) {
		const { session, shell, args } = context;
		const list = session.jobs.list();
		if (args.length > 0) return act(findAction(args[0]), findJob(list, args), context);
		if (list.length === 0) return { status: "There are no background commands" };
		if (!shell?.pickLive) return report(context, TITLE, list.map(describe));
		const id = await shell.pickLive({ title: TITLE, rows: () => session.jobs.list().map(row) }, context.signal);
		const job = session.jobs.list().find((candidate) => candidate.id === id);
		if (!job) return undefined;
		return act(await chooseAction(job, context), job, context);
	},
};

async function act(
	action: Action | null,
	job: JobStatus,
	context: BuiltinCommandContext,
): Promise<CommandResult | undefined> {
	const { jobs } = context.session;
	if (action === null) return undefined;
	if (action === "show") {
		const lines = jobs.lastLines(job.id, SHOWN_LINES);
		const file = job.outputPath === undefined ? [] : [`Output: ${job.outputPath}`];
		return report(context, describe(job), [...(lines.length > 0 ? lines : ["(no output)"]), ...file]);
	}
	await jobs.stop(job.id);
	const ended = jobs.list().find(({ id }) => id === job.id) ?? job;
	return { status: describe(ended) };
}

/** What to do with a command that was chosen from the list. */
async function chooseAction(job: JobStatus, { ui, signal }: BuiltinCommandContext): Promise<Action | null> {
	if (!job.isRunning) return "show";
	const options = [
		{ label: "Show the end of its output", value: "show" as const },
		{ label: "Stop it", value: "stop" as const },
	];
	return ui.select(describe(job), options, { signal });
}

function findAction(word: string | undefined): Action {
	const action = ACTIONS.find((candidate) => candidate === word);
	if (action) return action;
	throw new PiError("bad_arguments", "/jobs expects show or stop, and the id of a background command", {
		hint: "for example /jobs stop job-1",
	});
}

/** A user may write `1` for `job-1`; the id is not needed if only one command is possible. */
function findJob(list: readonly JobStatus[], [action, given]: readonly string[]): JobStatus {
	const possible = action === "stop" ? list.filter(({ isRunning }) => isRunning) : list;
	const only = given === undefined && possible.length === 1 ? possible[0] : undefined;
	const job = only ?? list.find(({ id }) => id === given || id === `job-${given}`);
	if (job) return job;
	const problem = given === undefined ? "Which background command?" : `There is no background command "${given}"`;
	const known = list.map(({ id }) => id).join(", ");
	throw new PiError("bad_arguments", problem, {
		hint: known ? `the background commands are ${known}` : "none was started in this session",
	});
}

function row(job: JobStatus) {
	const label = `${job.id} · ${shortCommand(job.command, 60)}`;
	return { label, value: job.id, description: [describeJobState(job), job.lastLine].filter(Boolean).join(" · ") };
}

function describe(job: JobStatus): string {
	return `${job.id} · ${describeJobState(job)} · ${shortCommand(job.command)}`;
}
